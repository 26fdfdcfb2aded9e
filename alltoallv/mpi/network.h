/* Reads the figures of this machine that `vas a2av tune` has measured. */
#ifndef VAS_A2AV_MPI_NETWORK_H
#define VAS_A2AV_MPI_NETWORK_H

#include <mpi.h>

#include "../core/choose.h"

/* Gives all ranks the figures of the first one; collective. The first rank reads the file that
 * VAS_A2AV_NETWORK names, or the one that `vas a2av tune` wrote for this MPI; the figures are
 * the assumed ones where there is no such file. Names a file that cannot be used on stderr.
 * Returns 0 or an error of MPI. */
int vas_network_share(struct a2av_network *, MPI_Comm);

#endif
