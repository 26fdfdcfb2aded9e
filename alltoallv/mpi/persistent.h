/* Says whether the MPI has MPI_Alltoallv_init, as MPICH 4 and Open MPI 5 have. */
#ifndef VAS_A2AV_MPI_PERSISTENT_H
#define VAS_A2AV_MPI_PERSISTENT_H

#include <mpi.h>

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define VAS_A2AV_HAS_PERSISTENT

/* Returns the number of requests of MPI_Alltoallv_init that the library serves and nobody has
 * freed. */
int vas_persistent_requests(void);
#endif

#endif
