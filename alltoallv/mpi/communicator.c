#include "communicator.h"

#include <stdint.h>
#include <stdlib.h>

#include "network.h"

/* Ranks can be started with different environments, or be out of memory: whether all are ready
 * for the same is asked once, by a reduction on the caller's communicator. */
static int agree(struct vas_communicator *own, MPI_Comm comm, bool ready, bool *same)
{
    const struct vas_settings *s = &own->settings;
    int64_t mine[] = {s->off,
                      s->min_ranks,
                      s->chooses,
                      s->node_ranks,
                      (int64_t)s->core.algorithm,
                      s->core.radix,
                      s->core.leaders,
                      s->core.batch,
                      (int64_t)s->core.direct_bytes,
                      (int64_t)s->core.eager_bytes,
                      (int64_t)s->core.piece_bytes,
                      ready};
    enum { VALUES = sizeof mine / sizeof *mine };
    int64_t both[2 * VALUES], most[2 * VALUES];
    for (int i = 0; i < VALUES; i++) {
        both[i] = mine[i];
        both[VALUES + i] = -mine[i];
    }
    int error = PMPI_Allreduce(both, most, 2 * VALUES, MPI_INT64_T, MPI_MAX, comm);
    *same = !error;
    for (int i = 0; i < VALUES && *same; i++)
        *same = most[i] == -most[VALUES + i];
    return error;
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

static int open_own(struct vas_communicator *own, MPI_Comm comm)
{
    MPI_Group group;
    MPI_Comm mine = MPI_COMM_NULL;
    int error = PMPI_Comm_group(comm, &group);
    if (error)
        return error;
    /* Not MPI_Comm_dup: it would call the copy functions of the caller's attributes. */
    error = PMPI_Comm_create(comm, group, &mine);
    PMPI_Group_free(&group);
    if (!error)
        error = PMPI_Comm_set_errhandler(mine, MPI_ERRORS_RETURN);
    if (!error)
        error = vas_transport_open(&own->transport, mine);
    if (!error && (own->settings.chooses || a2av_has_leaders(own->settings.core.algorithm))) {
        vas_node_map_open(&own->nodes, mine, own->settings.node_ranks);
        own->transport.base.node_of = own->nodes.node_of;
    }
    if (!error && own->settings.chooses)
        error = open_chooser(own);
    return error;
}

struct vas_communicator *vas_communicator_new(MPI_Comm comm, const struct vas_settings *settings)
{
    struct vas_communicator *own = calloc(1, sizeof *own);
    bool same;
    if (!own)
        return NULL;
    own->settings = *settings;
    own->transport.comm = MPI_COMM_NULL;
    own->nodes = (struct vas_node_map){.node = MPI_COMM_NULL, .memory = MPI_WIN_NULL};
    PMPI_Comm_rank(comm, &own->rank);
    PMPI_Comm_size(comm, &own->ranks);
    own->state = a2av_state_new();
    own->equal_state = a2av_state_new();
    own->equal_bytes = -1;
    bool ready = own->state && own->equal_state && vas_blocks_open(&own->blocks, own->ranks) == 0;
    if (agree(own, comm, ready, &same))
        own->passes = "its ranks could not agree";
    else if (!same)
        own->passes = "its ranks have different settings, or one has no memory";
    else if (settings->off)
        own->passes = "VAS_A2AV=off, or a setting that cannot be used";
    else if (own->ranks < settings->min_ranks)
        own->passes = "fewer ranks than VAS_A2AV_MIN_RANKS";
    else if (open_own(own, comm))
        own->passes = "MPI gave no communicator";
    return own;
}

void vas_communicator_free(struct vas_communicator *own)
{
    if (!own->broken)
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
    if (!error && own->settings.chooses)
        vas_chooser_learn(&own->chooser, own->state, &own->settings.core);
    return error;
}

bool vas_communicator_serves(struct vas_communicator *own)
{
    return !own->settings.chooses || vas_chooser_serves(&own->chooser);
}

bool vas_communicator_serves_equal(struct vas_communicator *own, MPI_Count bytes)
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
