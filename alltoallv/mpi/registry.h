/* The state of each communicator: an attribute of it, and a list for the report at the end. */
#ifndef VAS_A2AV_MPI_REGISTRY_H
#define VAS_A2AV_MPI_REGISTRY_H

#include "communicator.h"

/* Returns what belongs to a communicator, made at the first call, which is collective. NULL where
 * MPI's own function must be called: an intercommunicator, or a lack of memory. */
struct vas_communicator *vas_registry_find(MPI_Comm comm);

/* Keeps what belongs to a communicator for a plan, after the communicator is freed too. */
void vas_registry_hold(struct vas_communicator *);
void vas_registry_release(struct vas_communicator *);

/* Reports every communicator that is left. With `ended`, MPI is about to be finalized: what is
 * freed later frees memory only. */
void vas_registry_report(bool ended);

#endif
