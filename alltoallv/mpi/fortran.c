/* Defines those of Fortran's names whose wrappers in the MPI call PMPI's functions, and so pass the
 * functions of interpose.c and persistent.c by: all of Open MPI's; of MPICH's those of mpi_f08
 * without a buffer. MPICH's MPI_Alltoallv calls the C function of that name, in all three forms of
 * Fortran, and so does the one with large counts, which mpi_f08 has.
 *
 * The names are gfortran's. mpif.h and `use mpi` share one name; that of `use mpi_f08` may be
 * called without ierror. An argument of mpi_f08's derived types is the address of the integer
 * handle. */
#include <mpi.h>

#include "persistent.h"

#ifdef OPEN_MPI
#include <stdbool.h>
#include <stdlib.h>

#include "../include/vas_a2av.h"
#include "registry.h"

/* The addresses of these are Open MPI's MPI_IN_PLACE and MPI_BOTTOM of Fortran. Weak: a C
 * program does not load the library that has them. */
extern int mpi_fortran_in_place_ __attribute__((weak));
extern int mpi_fortran_bottom_ __attribute__((weak));

static void *address_of(void *buffer)
{
    if (buffer == (void *)&mpi_fortran_in_place_)
        return MPI_IN_PLACE;
    return buffer == (void *)&mpi_fortran_bottom_ ? MPI_BOTTOM : buffer;
}

static void set(MPI_Fint *ierror, int error)
{
    if (ierror)
        *ierror = error;
}

static void all_to_all_v(void *sendbuf, const MPI_Fint *sendcounts, const MPI_Fint *sdispls,
                         const MPI_Fint *sendtype, void *recvbuf, const MPI_Fint *recvcounts,
                         const MPI_Fint *rdispls, const MPI_Fint *recvtype, const MPI_Fint *comm,
                         MPI_Fint *ierror)
{
    void *from = address_of(sendbuf);
    MPI_Datatype receive = PMPI_Type_f2c(*recvtype);
    MPI_Datatype send = from == MPI_IN_PLACE ? receive : PMPI_Type_f2c(*sendtype);
    set(ierror, VAS_Alltoallv(from, sendcounts, sdispls, send, address_of(recvbuf), recvcounts,
                              rdispls, receive, PMPI_Comm_f2c(*comm)));
}

static void from_fortran(MPI_Datatype *types, const MPI_Fint *handles, int ranks)
{
    for (int i = 0; i < ranks; i++)
        types[i] = PMPI_Type_f2c(handles[i]);
}

static void all_to_all_w(void *sendbuf, const MPI_Fint *sendcounts, const MPI_Fint *sdispls,
                         const MPI_Fint *sendtypes, void *recvbuf, const MPI_Fint *recvcounts,
                         const MPI_Fint *rdispls, const MPI_Fint *recvtypes,
                         const MPI_Fint *handle, MPI_Fint *ierror)
{
    void *from = address_of(sendbuf);
    MPI_Comm comm = PMPI_Comm_f2c(*handle);
    int ranks, inter, error = PMPI_Comm_test_inter(comm, &inter);
    if (!error)
        error = inter ? PMPI_Comm_remote_size(comm, &ranks) : PMPI_Comm_size(comm, &ranks);
    if (error) {
        set(ierror, error);
        return;
    }
    MPI_Datatype *types = malloc(2 * (size_t)ranks * sizeof *types);
    if (!types) {
        set(ierror, PMPI_Comm_call_errhandler(comm, MPI_ERR_NO_MEM) ? MPI_ERR_OTHER
                                                                    : MPI_ERR_NO_MEM);
        return;
    }
    from_fortran(types, recvtypes, ranks);
    from_fortran(types + ranks, from == MPI_IN_PLACE ? recvtypes : sendtypes, ranks);
    set(ierror, VAS_Alltoallw(from, sendcounts, sdispls, types + ranks, address_of(recvbuf),
                              recvcounts, rdispls, types, comm));
    free(types);
}

#define EQUAL_ARGUMENTS                                                                       \
    void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype, void *recvbuf,       \
        const MPI_Fint *recvcount, const MPI_Fint *recvtype, const MPI_Fint *comm,           \
        MPI_Fint *ierror

static void all_to_all(EQUAL_ARGUMENTS)
{
    void *from = address_of(sendbuf);
    MPI_Datatype receive = PMPI_Type_f2c(*recvtype);
    bool in_place = from == MPI_IN_PLACE;
    set(ierror, VAS_Alltoall(from, in_place ? *recvcount : *sendcount,
                             in_place ? receive : PMPI_Type_f2c(*sendtype), address_of(recvbuf),
                             *recvcount, receive, PMPI_Comm_f2c(*comm)));
}

void mpi_alltoall_(EQUAL_ARGUMENTS);
void mpi_alltoall_f08_(EQUAL_ARGUMENTS);

void mpi_alltoall_(EQUAL_ARGUMENTS)
{
    all_to_all(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, ierror);
}

void mpi_alltoall_f08_(EQUAL_ARGUMENTS)
{
    all_to_all(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, ierror);
}

static void finalize(MPI_Fint *ierror)
{
    vas_registry_report(true);
    set(ierror, PMPI_Finalize());
}

#define ARGUMENTS                                                                                 \
    void *sendbuf, const MPI_Fint *sendcounts, const MPI_Fint *sdispls, const MPI_Fint *sendtype, \
        void *recvbuf, const MPI_Fint *recvcounts, const MPI_Fint *rdispls,                       \
        const MPI_Fint *recvtype, const MPI_Fint *comm, MPI_Fint *ierror
#define VALUES \
    sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, ierror

#define DEFINE(name, function)    \
    void name(ARGUMENTS);         \
    void name(ARGUMENTS)          \
    {                             \
        function(VALUES);         \
    }

DEFINE(mpi_alltoallv_, all_to_all_v)
DEFINE(mpi_alltoallv_f08_, all_to_all_v)
DEFINE(mpi_alltoallw_, all_to_all_w)
DEFINE(mpi_alltoallw_f08_, all_to_all_w)

void mpi_finalize_(MPI_Fint *ierror);
void mpi_finalize_f08_(MPI_Fint *ierror);

void mpi_finalize_(MPI_Fint *ierror)
{
    finalize(ierror);
}

void mpi_finalize_f08_(MPI_Fint *ierror)
{
    finalize(ierror);
}
#elif defined(MPICH_VERSION) && defined(VAS_A2AV_HAS_PERSISTENT)
/* MPICH's handles are Fortran's integers. */
_Static_assert(sizeof(MPI_Request) == sizeof(MPI_Fint), "a request is not Fortran's integer");

void mpi_start_f08_(MPI_Request *request, MPI_Fint *ierror);
void mpi_startall_f08_(const MPI_Fint *count, MPI_Request *requests, MPI_Fint *ierror);
void mpi_request_free_f08_(MPI_Request *request, MPI_Fint *ierror);

static void set(MPI_Fint *ierror, int error)
{
    if (ierror)
        *ierror = error;
}

void mpi_start_f08_(MPI_Request *request, MPI_Fint *ierror)
{
    set(ierror, MPI_Start(request));
}

void mpi_startall_f08_(const MPI_Fint *count, MPI_Request *requests, MPI_Fint *ierror)
{
    set(ierror, MPI_Startall(*count, requests));
}

void mpi_request_free_f08_(MPI_Request *request, MPI_Fint *ierror)
{
    set(ierror, MPI_Request_free(request));
}
#else
typedef int vas_a2av_no_fortran_names;
#endif
