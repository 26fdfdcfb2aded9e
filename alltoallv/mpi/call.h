/* One call on a communicator: by the core or by MPI's own function. */
#ifndef VAS_A2AV_MPI_CALL_H
#define VAS_A2AV_MPI_CALL_H

#include "communicator.h"

/* Exchanges the blocks by whoever has the turn. `own` is NULL where the library keeps no state.
 * Returns MPI_SUCCESS or an error, of which the error handler of `comm` was told. */
int vas_call(struct vas_communicator *own, const struct vas_side *send,
             const struct vas_side *receive, MPI_Comm comm);

/* Calls the function of MPI that has these arguments. */
int vas_native(const struct vas_side *send, const struct vas_side *receive, MPI_Comm comm);

/* Tells whether the core does the next MPI_Alltoall of blocks of so many bytes; sets
 * equal_settings. vas_equal_call_ended must follow that call, and returns 0 or an error of MPI. */
bool vas_equal_call_serves(struct vas_communicator *, MPI_Count bytes);
int vas_equal_call_ended(struct vas_communicator *);

/* Finds the most that a rank sends, and whether all ranks are `ready`, by a reduction; a side that
 * is invalid makes its rank unready. `send` is NULL for MPI_IN_PLACE. Returns 0 or an error of
 * MPI. */
int vas_look(struct vas_communicator *, const struct vas_side *send,
             const struct vas_side *receive, bool ready, bool *all, struct a2av_load *load);

#endif
