/* All-to-all of unequal blocks in a logarithmic number of rounds.
 *
 * The functions take the arguments of MPI's functions of the same name, have their meaning, and
 * may be mixed with them. They are collective in the same way. Where they do not apply they call
 * MPI's: on intercommunicators, on communicators of fewer ranks than VAS_A2AV_MIN_RANKS (8), with
 * VAS_A2AV=off, and where the ranks of a communicator were started with different settings.
 *
 * The first call on a communicator makes a communicator of the library's own behind it, which is
 * freed with it. Link with -lvas-a2av, after a program's own objects and before MPI. */
#ifndef VAS_A2AV_H
#define VAS_A2AV_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

int VAS_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                  MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                  const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm);

int VAS_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, MPI_Comm comm);

int VAS_Alltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[],
                  const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                  const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm);

#if MPI_VERSION >= 4
int VAS_Alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);

int VAS_Alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                    MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm);

int VAS_Alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                    const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm);
#endif

/* A plan: a call that is made many times with the same counts, displacements, types and buffers;
 * what the buffers contain may change. The first start learns the size of every message; later
 * ones send blocks alone, and no message without a block.
 *
 * All functions of plans are collective over the communicator, and VAS_Alltoallv_start
 * returns when the blocks are there, as MPI_Alltoallv does. The arrays of counts and
 * displacements, and the types, may be freed after VAS_Alltoallv_init, the communicator too;
 * plans are freed before MPI_Finalize. */
typedef struct vas_plan *VAS_Plan;

int VAS_Alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
                       MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                       const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                       VAS_Plan *plan);
#if MPI_VERSION >= 4
int VAS_Alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                         const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                         const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                         MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, VAS_Plan *plan);
#endif
int VAS_Alltoallv_start(VAS_Plan plan);

/* Frees a plan, and sets it to NULL. */
int VAS_Alltoallv_free(VAS_Plan *plan);

/* Prints to stderr what was done on each communicator, if VAS_A2AV_REPORT is 1 or json. A
 * communicator that has had calls since is reported again when it is freed, or in MPI_Finalize. */
void VAS_Alltoallv_report(void);

#ifdef __cplusplus
}
#endif

#endif
