#include "transport.h"

#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

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

enum { LOOKS = 4, NAP_FIRST = 10000, NAP_MOST = 5000000 };

/* Passes the core on while a rank waits for a message: to a thread of the caller, or to any other
 * rank. Naps grow, so that a long wait costs few looks. */
static void let_others_run(const struct vas_transport *own, int *looks, long *nap)
{
    if (!own->naps || ++*looks <= LOOKS) {
        sched_yield();
        return;
    }
    nanosleep(&(struct timespec){.tv_nsec = *nap}, NULL);
    if (*nap < NAP_MOST)
        *nap *= 2;
}

static int wait_for(struct a2av_transport *base, int ticket, size_t *received)
{
    struct vas_transport *own = (struct vas_transport *)base;
    MPI_Status status;
    bool polls = own->yields || own->naps;
    int count, done = 0, error = 0, looks = 0;
    long nap = NAP_FIRST;
    while (polls && !done && !error) {
        error = PMPI_Test(&own->requests[ticket], &done, &status);
        if (!done)
            let_others_run(own, &looks, &nap);
    }
    if (!polls)
        error = PMPI_Wait(&own->requests[ticket], &status);
    own->idle[own->idle_count++] = ticket;
    if (error || !received)
        return error;
    error = PMPI_Get_count(&status, MPI_BYTE, &count);
    *received = (size_t)count;
    return error;
}

#ifdef VAS_A2AV_SIMULATED
#define FIRST_POLL 100e-9
#define POLLS_OF_A_WAIT 50

/* SimGrid's nanosleep: simulated time passes, and other ranks of the node keep their cores. */
static void pass(double seconds)
{
    long nanoseconds = (long)(seconds * 1e9 + 0.5);
    struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    if (nanoseconds > 0)
        nanosleep(&time, NULL);
}

static void note_copied(struct a2av_transport *base, size_t blocks, size_t bytes)
{
    struct vas_transport *own = (struct vas_transport *)base;
    own->waited = 0;
    pass((double)blocks * own->block_seconds + (double)bytes * own->byte_seconds);
}

static double figure(const char *name)
{
    const char *value = getenv(name);
    return value ? strtod(value, NULL) * 1e-12 : 0;
}

static void simulate(struct vas_transport *own)
{
    own->base.copied = note_copied;
    own->block_seconds = figure("VAS_A2AV_BLOCK_PS");
    own->byte_seconds = figure("VAS_A2AV_COPY_BYTE_PS");
}

/* A rank notices what another has written after a fiftieth of its wait at most: events cost the
 * simulation time. */
static int give_way(struct a2av_transport *base)
{
    struct vas_transport *own = (struct vas_transport *)base;
    double now = own->waited / POLLS_OF_A_WAIT;
    now = now < FIRST_POLL ? FIRST_POLL : now;
    pass(now);
    own->waited += now;
    return 0;
}
#else
static void simulate(struct vas_transport *own)
{
    (void)own;
}

/* Messages make progress only while a rank is inside MPI. */
static int give_way(struct a2av_transport *base)
{
    struct vas_transport *own = (struct vas_transport *)base;
    int found;
    sched_yield();
    return PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, own->comm, &found, MPI_STATUS_IGNORE);
}
#endif

int vas_transport_open(struct vas_transport *own, MPI_Comm comm)
{
    *own = (struct vas_transport){
        .base = {.send = start_send,
                 .receive = start_receive,
                 .wait = wait_for,
                 .pause = give_way},
        .comm = comm};
    simulate(own);
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
