/* Defines the explicit API's calls of unequal blocks, of vas_a2av.h. */
#include "../include/vas_a2av.h"

#include "call.h"
#include "registry.h"

static int exchange(const struct vas_side *send, const struct vas_side *receive, MPI_Comm comm)
{
    return vas_call(vas_registry_find(comm), send, receive, comm);
}

int VAS_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                  MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                  const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    struct vas_side send = {sendbuf, sendcounts, sdispls, &sendtype, false, false};
    struct vas_side receive = {recvbuf, recvcounts, rdispls, &recvtype, false, false};
    return exchange(&send, &receive, comm);
}

int VAS_Alltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[],
                  const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                  const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    struct vas_side send = {sendbuf, sendcounts, sdispls, sendtypes, false, true};
    struct vas_side receive = {recvbuf, recvcounts, rdispls, recvtypes, false, true};
    return exchange(&send, &receive, comm);
}

#if MPI_VERSION >= 4
int VAS_Alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                    MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    struct vas_side send = {sendbuf, sendcounts, sdispls, &sendtype, true, false};
    struct vas_side receive = {recvbuf, recvcounts, rdispls, &recvtype, true, false};
    return exchange(&send, &receive, comm);
}

int VAS_Alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                    const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    struct vas_side send = {sendbuf, sendcounts, sdispls, sendtypes, true, true};
    struct vas_side receive = {recvbuf, recvcounts, rdispls, recvtypes, true, true};
    return exchange(&send, &receive, comm);
}
#endif

void VAS_Alltoallv_report(void)
{
    vas_registry_report();
}
