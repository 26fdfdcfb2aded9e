/* The figures of this machine that `vas a2av tune` has measured. */
#ifndef VAS_A2AV_MPI_NETWORK_H
#define VAS_A2AV_MPI_NETWORK_H

#include <mpi.h>

#include "../core/choose.h"

/* Collective: the first rank reads the file that VAS_A2AV_NETWORK names, or the one that `vas a2av
 * tune` wrote for this MPI, and all get its figures, or the assumed ones where there is no such
 * file. A file that cannot be used is named on stderr. Returns an error of MPI. */
int vas_network_share(struct a2av_network *, MPI_Comm);

#endif
