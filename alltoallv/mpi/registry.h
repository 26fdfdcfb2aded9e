/* Keeps the state of each communicator: by an attribute of the communicator, and in a list for
 * the report at the end. */
#ifndef VAS_A2AV_MPI_REGISTRY_H
#define VAS_A2AV_MPI_REGISTRY_H

#include "communicator.h"

/* Returns the library's state for a communicator, which is made at the first call; that is
 * collective. Returns NULL where MPI's own function must be called: for an intercommunicator,
 * or without memory. */
struct vas_communicator *vas_registry_find(MPI_Comm comm);

/* Keep the state of a communicator for a plan, even after the communicator is freed; and
 * release it. */
void vas_registry_hold(struct vas_communicator *);
void vas_registry_release(struct vas_communicator *);

/* Reports every communicator that is left. With `ended`, MPI is about to be finalized: what is
 * freed later frees memory only. */
void vas_registry_report(bool ended);

#endif
