/* Carries the messages of the core on a communicator that nobody else uses. */
#ifndef VAS_A2AV_MPI_TRANSPORT_H
#define VAS_A2AV_MPI_TRANSPORT_H

#include <mpi.h>

#include "../core/a2av.h"

struct vas_transport {
    struct a2av_transport base; /* the first member: the core's view */
    MPI_Comm comm;
    MPI_Request *requests; /* by ticket */
    int *idle;             /* tickets that are free: a stack */
    int room, idle_count;
#ifdef VAS_A2AV_SIMULATED
    double block_seconds, byte_seconds; /* what copies cost */
    double waited;                      /* for the window, since something was copied */
#endif
    bool naps;   /* between looks at a message: other ranks need the core */
    bool yields; /* the core, while it waits: its thread may share that with the caller's */
};

/* Makes a transport on a communicator. Returns 0 or an error of MPI. */
int vas_transport_open(struct vas_transport *, MPI_Comm);

/* Frees the table of requests; the communicator is the caller's. No operation may be under way. */
void vas_transport_close(struct vas_transport *);

#endif
