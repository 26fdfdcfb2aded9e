#include "transport.h"

#include <limits.h>
#include <sched.h>
#include <stdlib.h>

static int grow(struct vas_transport *own)
{
    int room = own->room ? 2 * own->room : 32;
    MPI_Request *requests = realloc(own->requests, (size_t)room * sizeof *requests);
    if (requests)
        own->requests = requests;
    int *idle = realloc(own->idle, (size_t)room * sizeof *idle);
    if (idle)
        own->idle = idle;
    if (!requests || !idle)
        return A2AV_NO_MEMORY;
    for (int ticket = room - 1; ticket >= own->room; ticket--)
        own->idle[own->idle_count++] = ticket;
    own->room = room;
    return 0;
}

static int take_ticket(struct vas_transport *own, size_t count, int *ticket)
{
    if (count > INT_MAX)
        return MPI_ERR_COUNT;
    if (own->idle_count == 0) {
        int error = grow(own);
        if (error)
            return error;
    }
    *ticket = own->idle[--own->idle_count];
    return 0;
}

static int start_send(struct a2av_transport *base, const void *bytes, size_t count, int to,
                      int tag, int *ticket)
{
    struct vas_transport *own = (struct vas_transport *)base;
    int error = take_ticket(own, count, ticket);
    return error ? error
                 : PMPI_Isend(bytes, (int)count, MPI_BYTE, to, tag, own->comm,
                              &own->requests[*ticket]);
}

static int start_receive(struct a2av_transport *base, void *bytes, size_t room, int from, int tag,
                         int *ticket)
{
    struct vas_transport *own = (struct vas_transport *)base;
    int error = take_ticket(own, room, ticket);
    return error ? error
                 : PMPI_Irecv(bytes, (int)room, MPI_BYTE, from, tag, own->comm,
                              &own->requests[*ticket]);
}

static int wait_for(struct a2av_transport *base, int ticket, size_t *received)
{
    struct vas_transport *own = (struct vas_transport *)base;
    MPI_Status status;
    int count, done = 0, error = 0;
    while (own->yields && !done && !error) {
        error = PMPI_Test(&own->requests[ticket], &done, &status);
        if (!done)
            sched_yield();
    }
    if (!own->yields)
        error = PMPI_Wait(&own->requests[ticket], &status);
    own->idle[own->idle_count++] = ticket;
    if (error || !received)
        return error;
    error = PMPI_Get_count(&status, MPI_BYTE, &count);
    *received = (size_t)count;
    return error;
}

/* Messages make progress only while a rank is inside MPI. */
static int give_way(struct a2av_transport *base)
{
    struct vas_transport *own = (struct vas_transport *)base;
    int found;
    sched_yield();
    return PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, own->comm, &found, MPI_STATUS_IGNORE);
}

int vas_transport_open(struct vas_transport *own, MPI_Comm comm)
{
    *own = (struct vas_transport){
        .base = {.send = start_send,
                 .receive = start_receive,
                 .wait = wait_for,
                 .pause = give_way},
        .comm = comm};
    int error = PMPI_Comm_rank(comm, &own->base.rank);
    return error ? error : PMPI_Comm_size(comm, &own->base.size);
}

void vas_transport_close(struct vas_transport *own)
{
    free(own->requests);
    free(own->idle);
    own->requests = NULL;
    own->idle = NULL;
    own->room = own->idle_count = 0;
}
