/* Makes the explicit API's plans for MPI_Alltoallv_init. */
#ifndef VAS_A2AV_MPI_PLAN_H
#define VAS_A2AV_MPI_PLAN_H

#include "communicator.h"

struct vas_plan;

/* Makes a plan of two sides, whose starts are exchanges on `own`; collective over
 * `own`, which all ranks have. With `tries` its first starts compare the core with MPI's own
 * function. VAS_Alltoallv_start and VAS_Alltoallv_free take the plan. `made`
 * is NULL on all ranks where `ready` is false on one, or one has no memory. Returns 0 or an
 * error of MPI. */
int vas_plan_make(struct vas_communicator *own, const struct vas_side *send,
                  const struct vas_side *receive, bool ready, bool tries, struct vas_plan **made);

#endif
