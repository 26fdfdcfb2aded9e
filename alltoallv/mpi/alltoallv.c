/* Defines the explicit API's calls of unequal blocks, of vas_a2av.h. */
#include "../include/vas_a2av.h"

#include "registry.h"

/* Returns the state of the communicator if the core does the call; NULL if MPI's own function
 * must, which also reports what is wrong with the arguments. */
static struct vas_communicator *taken(MPI_Comm comm, const struct vas_side *send,
                                      const struct vas_side *receive)
{
    struct vas_communicator *own = vas_registry_find(comm);
    if (!own)
        return NULL;
    bool in_place = send->base == MPI_IN_PLACE;
    /* The counts of all ranks are looked at last: most calls that are passed on end before. */
    if (own->passes)
        own->totals.passed[VAS_PASSED_ALL]++;
    else if (!vas_communicator_serves(own))
        own->totals.passed[VAS_PASSED_CHOICE]++;
    else if (vas_side_is_invalid(receive, own->ranks) ||
             (!in_place && vas_side_is_invalid(send, own->ranks)))
        own->totals.passed[VAS_PASSED_ARGUMENTS]++;
    else
        return own;
    return NULL;
}

static int exchange(struct vas_communicator *own, const struct vas_side *send,
                    const struct vas_side *receive, MPI_Comm comm)
{
    return vas_communicator_exchange(own, send->base == MPI_IN_PLACE ? NULL : send, receive,
                                     comm);
}

int VAS_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                  MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                  const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    struct vas_side send = {sendbuf, sendcounts, sdispls, &sendtype, false, false};
    struct vas_side receive = {recvbuf, recvcounts, rdispls, &recvtype, false, false};
    struct vas_communicator *own = taken(comm, &send, &receive);
    return own ? exchange(own, &send, &receive, comm)
               : PMPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                rdispls, recvtype, comm);
}

int VAS_Alltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[],
                  const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                  const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    struct vas_side send = {sendbuf, sendcounts, sdispls, sendtypes, false, true};
    struct vas_side receive = {recvbuf, recvcounts, rdispls, recvtypes, false, true};
    struct vas_communicator *own = taken(comm, &send, &receive);
    return own ? exchange(own, &send, &receive, comm)
               : PMPI_Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                rdispls, recvtypes, comm);
}

#if MPI_VERSION >= 4
int VAS_Alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                    MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    struct vas_side send = {sendbuf, sendcounts, sdispls, &sendtype, true, false};
    struct vas_side receive = {recvbuf, recvcounts, rdispls, &recvtype, true, false};
    struct vas_communicator *own = taken(comm, &send, &receive);
    return own ? exchange(own, &send, &receive, comm)
               : PMPI_Alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                  rdispls, recvtype, comm);
}

int VAS_Alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                    const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    struct vas_side send = {sendbuf, sendcounts, sdispls, sendtypes, true, true};
    struct vas_side receive = {recvbuf, recvcounts, rdispls, recvtypes, true, true};
    struct vas_communicator *own = taken(comm, &send, &receive);
    return own ? exchange(own, &send, &receive, comm)
               : PMPI_Alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                  rdispls, recvtypes, comm);
}
#endif

void VAS_Alltoallv_report(void)
{
    vas_registry_report(false);
}
