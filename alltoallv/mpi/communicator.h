/* All-to-all on one communicator: a communicator of the library's own behind the caller's,
 * agreed settings, and what was counted. No global state: an attribute (registry.c) or a handle
 * keeps it. */
#ifndef VAS_A2AV_MPI_COMMUNICATOR_H
#define VAS_A2AV_MPI_COMMUNICATOR_H

#include <mpi.h>
#include <stdbool.h>

#include "blocks.h"
#include "chooser.h"
#include "node_map.h"
#include "settings.h"
#include "totals.h"
#include "transport.h"
#include "turns.h"

struct vas_communicator {
    struct vas_settings settings;
    const char *passes; /* why calls go to MPI's own; NULL where they do not */
    bool broken;        /* an error came up: messages may be on their way */
    int plans;          /* not freed yet: the last one frees this if `gone` */
    bool gone;          /* the caller's communicator is freed */
    bool ended;         /* MPI is about to be finalized: memory only is freed */
    int rank, ranks;
    struct vas_transport transport;
    struct vas_node_map nodes; /* for the algorithms with leaders */
    struct vas_chooser chooser; /* this and the turns: with settings.chooses */
    struct vas_turns turns, equal_turns;
    struct vas_blocks blocks;
    struct a2av_state *state;
    /* For MPI_Alltoall: the size of its blocks when the settings were chosen, and whether the
     * core serves such calls. */
    struct a2av_state *equal_state;
    struct a2av_settings equal_settings;
    MPI_Count equal_bytes;
    bool equal_serves;
    struct vas_totals totals;
};

/* Make the library's state for `comm`, an intracommunicator, and are collective over it: all
 * ranks get the same algorithm, or all pass. Both return NULL on all ranks where one has no
 * memory, or is not `ready`. */
struct vas_communicator *vas_communicator_new(MPI_Comm comm, const struct vas_settings *);
struct vas_communicator *vas_communicator_new_if(MPI_Comm comm, const struct vas_settings *,
                                                 bool ready);

/* Frees the state and its communicator; collective, also where only some ranks met an error. After
 * an error the memory of messages stays. */
void vas_communicator_free(struct vas_communicator *);

/* Exchanges the blocks; `send` is NULL for MPI_IN_PLACE. Must not be called where `passes` is
 * set. Calls the error handler of `comm`. Returns MPI_SUCCESS or an error of MPI. */
int vas_communicator_exchange(struct vas_communicator *, const struct vas_side *send,
                              const struct vas_side *receive, MPI_Comm comm);

/* Exchanges the blocks as vas_communicator_exchange does, with the state and settings of a
 * plan, and without a choice. `comm` may be MPI_COMM_NULL: no error handler is called then. */
int vas_communicator_run(struct vas_communicator *, struct a2av_state *,
                         const struct a2av_settings *, const struct vas_side *send,
                         const struct vas_side *receive, MPI_Comm comm);

/* Prints to stderr what was done: a line for each algorithm, one for each reason of calls that were
 * passed to MPI, and one of the nodes if they are known; or one JSON object. */
void vas_communicator_report(const struct vas_communicator *);

#endif
