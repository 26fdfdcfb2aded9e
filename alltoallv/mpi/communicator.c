#include "communicator.h"

#include <stdint.h>
#include <stdlib.h>

#include "network.h"

enum { MOST_FACTS = 12 };

/* Compares facts of each rank, of which the first is whether it is ready; collective. `ready` says
 * whether all ranks are, `same` whether all facts are equal. Returns 0 or an error of MPI. */
static int compare(const int64_t *mine, int count, MPI_Comm comm, bool *ready, bool *same)
{
    int64_t both[2 * MOST_FACTS], most[2 * MOST_FACTS];
    for (int i = 0; i < count; i++) {
        both[i] = mine[i];
        both[count + i] = -mine[i];
    }
    int error = PMPI_Allreduce(both, most, 2 * count, MPI_INT64_T, MPI_MAX, comm);
    *same = !error;
    *ready = !error && most[count] < 0;
    for (int i = 0; i < count && *same; i++)
        *same = most[i] == -most[count + i];
    return error;
}

/* Ranks can be started with different environments, or be out of memory: whether all are ready
 * for the same is asked once, by a reduction on the caller's communicator. */
static int agree(const struct vas_settings *s, MPI_Comm comm, bool ready, bool *all, bool *same)
{
    int64_t mine[MOST_FACTS] = {ready,
                                s->off,
                                s->min_ranks,
                                s->chooses,
                                s->node_ranks,
                                (int64_t)s->core.algorithm,
                                s->core.radix,
                                s->core.leaders,
                                s->core.batch,
                                (int64_t)s->core.direct_bytes,
                                (int64_t)s->core.eager_bytes,
                                (int64_t)s->core.piece_bytes};
    return compare(mine, MOST_FACTS, comm, all, same);
}

static int open_chooser(struct vas_communicator *own)
{
    struct a2av_network network;
    int error = vas_network_share(&network, own->transport.comm);
    vas_chooser_open(&own->chooser, &network, own->nodes.node_of, own->ranks);
    return error;
}

/* Many communicators never need the memory of nodes, so it is made when it is needed first. */
static void share_memory(struct vas_communicator *own)
{
    if (own->nodes.shared)
        return;
    if (!vas_node_map_share(&own->nodes, own->transport.comm))
        vas_chooser_without_memory(&own->chooser);
    own->transport.base.patience = own->nodes.patience;
    own->transport.naps = own->nodes.crowded;
    own->transport.base.window = own->nodes.parts ? &own->nodes.window : NULL;
}

static bool needs_nodes(const struct vas_settings *settings)
{
    return settings->chooses || a2av_has_leaders(settings->core.algorithm);
}

/* Makes the communicator behind the caller's, and tells whether all ranks have it; collective. */
static bool open_transport(struct vas_communicator *own, MPI_Comm comm, MPI_Group group)
{
    MPI_Comm mine = MPI_COMM_NULL;
    bool all, same;
    /* Not MPI_Comm_dup: it would call the copy functions of the caller's attributes. */
    int error = PMPI_Comm_create(comm, group, &mine);
    if (!error)
        error = PMPI_Comm_set_errhandler(mine, MPI_ERRORS_RETURN);
    if (!error)
        error = vas_transport_open(&own->transport, mine);
    return !compare(&(int64_t){!error}, 1, comm, &all, &same) && all;
}

/* Finds the nodes and what the model needs, and tells whether all ranks found the same; collective.
 * A rank without memory has another layout than the others. */
static bool open_nodes(struct vas_communicator *own, MPI_Comm comm)
{
    const struct a2av_layout *layout = &own->chooser.layout;
    bool all, same;
    int error = vas_node_map_open(&own->nodes, own->transport.comm, own->settings.node_ranks);
    own->transport.base.node_of = own->nodes.node_of;
    if (!error && own->settings.chooses)
        error = open_chooser(own);
    int64_t mine[] = {!error, layout->nodes, layout->most, layout->fewest};
    return !compare(mine, sizeof mine / sizeof *mine, comm, &all, &same) && all && same;
}

/* Takes all memory that the state of a communicator needs. Returns NULL where there is none. */
static struct vas_communicator *take_memory(MPI_Comm comm, const struct vas_settings *settings)
{
    struct vas_communicator *own = calloc(1, sizeof *own);
    if (!own)
        return NULL;
    own->settings = *settings;
    own->transport.comm = MPI_COMM_NULL;
    own->nodes = vas_node_map_closed();
    PMPI_Comm_rank(comm, &own->rank);
    PMPI_Comm_size(comm, &own->ranks);
    own->state = a2av_state_new();
    own->equal_state = a2av_state_new();
    own->equal_bytes = -1;
    if (own->state && own->equal_state && vas_blocks_open(&own->blocks, own->ranks) == 0 &&
        (!needs_nodes(settings) || vas_node_map_reserve(&own->nodes, own->ranks) == 0))
        return own;
    vas_communicator_free(own);
    return NULL;
}

/* Sets why the calls go to MPI's own, or makes what the calls need. Every step is one of all ranks,
 * and has the same end on all. */
static void open_own(struct vas_communicator *own, MPI_Comm comm, MPI_Group group, bool same)
{
    if (!same)
        own->passes = "its ranks have different settings";
    else if (own->settings.off)
        own->passes = "VAS_A2AV=off, or a setting that cannot be used";
    else if (own->ranks < own->settings.min_ranks)
        own->passes = "fewer ranks than VAS_A2AV_MIN_RANKS";
    else if (!open_transport(own, comm, group))
        own->passes = "MPI gave no communicator";
    else if (needs_nodes(&own->settings) && !open_nodes(own, comm))
        own->passes = "its ranks found different nodes, or one has no memory";
}

struct vas_communicator *vas_communicator_new_if(MPI_Comm comm,
                                                 const struct vas_settings *settings, bool ready)
{
    MPI_Group group = MPI_GROUP_NULL;
    struct vas_communicator *own = ready ? take_memory(comm, settings) : NULL;
    bool all, same;
    ready = own && PMPI_Comm_group(comm, &group) == MPI_SUCCESS;
    if (!agree(settings, comm, ready, &all, &same) && all) {
        open_own(own, comm, group, same);
    } else if (own) {
        vas_communicator_free(own);
        own = NULL;
    }
    if (ready)
        PMPI_Group_free(&group);
    return own;
}

struct vas_communicator *vas_communicator_new(MPI_Comm comm, const struct vas_settings *settings)
{
    return vas_communicator_new_if(comm, settings, true);
}

void vas_communicator_free(struct vas_communicator *own)
{
    /* Also after an error: the window is freed by all ranks of a node at once, and some of them may
     * have met none. */
    vas_node_map_close(&own->nodes, own->ended);
    if (own->transport.comm != MPI_COMM_NULL && !own->ended)
        PMPI_Comm_free(&own->transport.comm);
    if (!own->broken) {
        vas_transport_close(&own->transport);
        a2av_state_free(own->state);
        a2av_state_free(own->equal_state);
    }
    vas_blocks_close(&own->blocks);
    free(own);
}

static int class_of(int error)
{
    switch (error) {
    case A2AV_NO_MEMORY:
        return MPI_ERR_NO_MEM;
    case A2AV_WRONG_SIZE:
        return MPI_ERR_TRUNCATE;
    case A2AV_BAD_MESSAGE:
        return MPI_ERR_INTERN;
    default:
        return error;
    }
}

int vas_communicator_exchange(struct vas_communicator *own, const struct vas_side *send,
                              const struct vas_side *receive, MPI_Comm comm)
{
    int error =
        vas_communicator_run(own, own->state, &own->settings.core, send, receive, comm);
    if (!error && own->settings.chooses &&
        !vas_chooser_learn(&own->chooser, own->state, &own->settings.core))
        vas_turns_leave(&own->turns);
    return error;
}

int vas_communicator_run(struct vas_communicator *own, struct a2av_state *state,
                         const struct a2av_settings *settings, const struct vas_side *send,
                         const struct vas_side *receive, MPI_Comm comm)
{
    struct a2av_counts counts;
    double started = PMPI_Wtime();
    int error = own->broken ? MPI_ERR_OTHER : 0;
    if (!error)
        error = vas_blocks_begin(&own->blocks, send, receive, own->transport.comm);
    if (!error && a2av_has_leaders(settings->algorithm))
        share_memory(own);
    if (!error) {
        struct a2av_job job = {own->blocks.send, own->blocks.send_bytes, own->blocks.receive,
                               own->blocks.receive_bytes};
        error = a2av_run(&own->transport.base, settings, &job, state, &counts);
        /* The packed blocks of messages that may be on their way must stay where they are. */
        if (!error)
            error = vas_blocks_end(&own->blocks, receive, own->transport.comm, false);
    } else if (!own->broken) {
        vas_blocks_end(&own->blocks, receive, own->transport.comm, true);
    }
    if (error) {
        own->broken = true;
        error = class_of(error);
        if (comm != MPI_COMM_NULL)
            PMPI_Comm_call_errhandler(comm, error);
        return error;
    }
    vas_totals_add(&own->totals, settings, &counts, PMPI_Wtime() - started);
    return MPI_SUCCESS;
}
