#include "call.h"

#include <stdint.h>

static bool is_valid(const struct vas_communicator *own, const struct vas_side *send,
                     const struct vas_side *receive)
{
    return vas_sides_are_valid(send, receive, own->rank, own->ranks);
}

int vas_look(struct vas_communicator *own, const struct vas_side *send,
             const struct vas_side *receive, bool ready, bool *all, struct a2av_load *load)
{
    struct a2av_load mine = {0};
    ready = ready && is_valid(own, send, receive) &&
            vas_blocks_measure(&own->blocks, send, receive) == 0;
    if (ready)
        mine = a2av_load_sent(own->blocks.send_bytes, own->rank, own->ranks,
                              own->settings.core.direct_bytes);
    double values[] = {!ready, mine.blocks, mine.bytes, mine.direct}, most[4] = {1, 0, 0, 0};
    int error = PMPI_Allreduce(values, most, 4, MPI_DOUBLE, MPI_MAX, own->transport.comm);
    *all = !error && most[0] == 0;
    *load = a2av_load_in_steps((struct a2av_load){most[1], most[2], most[3]});
    return error;
}

/* Gives somebody the next calls, by what this one moves. Returns 0 or an error of MPI. */
static int decide(struct vas_communicator *own, const struct vas_side *send,
                  const struct vas_side *receive)
{
    struct a2av_load load;
    bool all;
    int error = vas_look(own, send, receive, true, &all, &load);
    if (all && vas_chooser_choose(&own->chooser, &load, &own->settings.core))
        vas_turns_try(&own->turns);
    else
        vas_turns_leave(&own->turns);
    return error;
}

/* Sets `core` where the core does the next call; counts it elsewhere. The counts of all ranks are
 * looked at last: most calls that are passed on end before. Returns 0 or an error of MPI. */
static int take(struct vas_communicator *own, const struct vas_side *send,
                const struct vas_side *receive, bool *core)
{
    bool chooses = !own->passes && own->settings.chooses;
    int error = chooses && vas_turns_are_open(&own->turns) ? decide(own, send, receive) : 0;
    *core = false;
    if (own->passes)
        own->totals.passed[VAS_PASSED_ALL]++;
    else if (chooses && !vas_turns_take(&own->turns))
        own->totals.passed[VAS_PASSED_CHOICE]++;
    else if (!is_valid(own, send, receive))
        own->totals.passed[VAS_PASSED_ARGUMENTS]++;
    else
        *core = true;
    return error;
}

int vas_native(const struct vas_side *send, const struct vas_side *receive, MPI_Comm comm)
{
    void *to = (void *)(uintptr_t)receive->base;
#if MPI_VERSION >= 4
    if (receive->wide)
        return receive->by_rank
                   ? PMPI_Alltoallw_c(send->base, send->counts, send->displacements, send->types,
                                      to, receive->counts, receive->displacements, receive->types,
                                      comm)
                   : PMPI_Alltoallv_c(send->base, send->counts, send->displacements, *send->types,
                                      to, receive->counts, receive->displacements,
                                      *receive->types, comm);
#endif
    return receive->by_rank
               ? PMPI_Alltoallw(send->base, send->counts, send->displacements, send->types, to,
                                receive->counts, receive->displacements, receive->types, comm)
               : PMPI_Alltoallv(send->base, send->counts, send->displacements, *send->types, to,
                                receive->counts, receive->displacements, *receive->types, comm);
}

int vas_call(struct vas_communicator *own, const struct vas_side *send,
             const struct vas_side *receive, MPI_Comm comm)
{
    const struct vas_side *from = send->base == MPI_IN_PLACE ? NULL : send;
    bool core = false;
    int ours = own ? take(own, from, receive, &core) : 0;
    int error = core ? vas_communicator_exchange(own, from, receive, comm)
                     : vas_native(send, receive, comm);
    if (own && !ours)
        ours = vas_turns_end(&own->turns, own->transport.comm);
    if (ours && !error)
        PMPI_Comm_call_errhandler(comm, error = ours);
    return error;
}

/* Chooses for equal blocks of so many bytes. Returns whether the core is predicted to be the
 * better choice. */
static bool choose_equal(struct vas_communicator *own, MPI_Count bytes)
{
    const struct a2av_settings *settings = &own->settings.core;
    if (bytes == own->equal_bytes)
        return own->equal_serves;
    own->equal_bytes = bytes;
    own->equal_settings = *settings;
    /* Large blocks are best sent one by one, which MPI does well. */
    own->equal_serves = (size_t)bytes <= settings->direct_bytes;
    if (own->equal_serves && own->settings.chooses)
        own->equal_serves = a2av_choose_equal(&own->chooser.network, &own->chooser.layout,
                                              (size_t)bytes, &own->equal_settings);
    return own->equal_serves;
}

bool vas_equal_call_serves(struct vas_communicator *own, MPI_Count bytes)
{
    if (!choose_equal(own, bytes) || !own->settings.chooses)
        return own->equal_serves;
    if (vas_turns_are_open(&own->equal_turns))
        vas_turns_try(&own->equal_turns);
    return vas_turns_take(&own->equal_turns);
}

int vas_equal_call_ended(struct vas_communicator *own)
{
    return vas_turns_end(&own->equal_turns, own->transport.comm);
}
