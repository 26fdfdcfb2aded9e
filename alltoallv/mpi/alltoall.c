/* Defines VAS_Alltoall, by the same core: its blocks are equal, so all ranks know their size
 * before. */
#include <stdint.h>
#include <stdlib.h>

#include "../include/vas_a2av.h"
#include "call.h"
#include "plain_type.h"
#include "registry.h"

/* Makes a side of equal blocks: so many elements for each rank, one after the other. Returns 0
 * or A2AV_NO_MEMORY. */
static int lay_out(struct vas_side *side, const void *base, MPI_Count count,
                   const MPI_Datatype *type, int ranks)
{
    MPI_Count *counts = malloc((size_t)ranks * sizeof *counts);
    MPI_Aint *at = malloc((size_t)ranks * sizeof *at);
    *side = (struct vas_side){base, counts, at, type, true, false};
    for (int i = 0; counts && at && i < ranks; i++) {
        counts[i] = count;
        at[i] = (MPI_Aint)count * i;
    }
    return counts && at ? 0 : A2AV_NO_MEMORY;
}

static void free_side(struct vas_side *side)
{
    free((void *)(uintptr_t)side->counts);
    free((void *)(uintptr_t)side->displacements);
}

/* Tells whether a side can be served, and sets the bytes of its blocks. */
static bool is_valid(const void *base, MPI_Count count, MPI_Datatype type, MPI_Count *bytes)
{
    struct vas_type facts;
    if (base == MPI_IN_PLACE || count < 0 || type == MPI_DATATYPE_NULL || vas_type_of(type, &facts))
        return false;
    *bytes = count * facts.size;
    /* As a number: MPI_BOTTOM is NULL, and types have addresses then. */
    return *bytes == 0 || !vas_is_no_address((void *)((uintptr_t)base + (uintptr_t)facts.first));
}

/* Tells whether the core does the call, and counts it if MPI's own function does. */
static bool takes(struct vas_communicator *own, const void *sendbuf, MPI_Count sendcount,
                  MPI_Datatype sendtype, const void *recvbuf, MPI_Count recvcount,
                  MPI_Datatype recvtype)
{
    MPI_Count sent = 0, received;
    bool in_place = sendbuf == MPI_IN_PLACE;
    if (!own)
        return false;
    if (own->passes)
        own->totals.passed[VAS_PASSED_ALL]++;
    else if (!is_valid(recvbuf, recvcount, recvtype, &received) ||
             (!in_place && !is_valid(sendbuf, sendcount, sendtype, &sent)) ||
             (sendbuf == recvbuf && sendtype == recvtype && sendbuf && sent > 0 && received > 0))
        own->totals.passed[VAS_PASSED_ARGUMENTS]++;
    else if (!vas_equal_call_serves(own, received))
        own->totals.passed[VAS_PASSED_EQUAL]++;
    else
        return true;
    return false;
}

/* Notes that the call has ended; returns its error, or one of the library's own. */
static int ended(struct vas_communicator *own, int error, MPI_Comm comm)
{
    int ours = own ? vas_equal_call_ended(own) : 0;
    if (ours && !error)
        PMPI_Comm_call_errhandler(comm, error = ours);
    return error;
}

static int exchange(struct vas_communicator *own, const void *sendbuf, MPI_Count sendcount,
                    MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm)
{
    bool in_place = sendbuf == MPI_IN_PLACE;
    struct vas_side send, receive;
    int error = lay_out(&receive, recvbuf, recvcount, &recvtype, own->ranks);
    int other = lay_out(&send, sendbuf, in_place ? 0 : sendcount, &sendtype, own->ranks);
    if (error || other)
        PMPI_Comm_call_errhandler(comm, error = MPI_ERR_NO_MEM);
    else
        error = vas_communicator_run(own, own->equal_state, &own->equal_settings,
                                     in_place ? NULL : &send, &receive, comm);
    free_side(&send);
    free_side(&receive);
    return error;
}

int VAS_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    struct vas_communicator *own = vas_registry_find(comm);
    bool core = takes(own, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype);
    int error =
        core ? exchange(own, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
             : PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    return ended(own, error, comm);
}

#if MPI_VERSION >= 4
int VAS_Alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    struct vas_communicator *own = vas_registry_find(comm);
    bool core = takes(own, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype);
    int error =
        core ? exchange(own, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
             : PMPI_Alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    return ended(own, error, comm);
}
#endif
