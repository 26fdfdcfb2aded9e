/* Serves MPI_Alltoallv_init. MPI_Start must return before other ranks have started, and the
 * exchange must get on whatever the caller does then, so each plan has a thread, and a
 * communicator, of its own.
 *
 * The request that the caller gets is a receive of nothing from its own rank. MPI_Start starts
 * it and wakes the thread; the thread sends what it waits for when the blocks are there:
 * nothing, or after an error one byte, which is too much. So MPI's own functions wait for the
 * request, and report the error. */
#include "persistent.h"

#ifdef VAS_A2AV_HAS_PERSISTENT

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "../include/vas_a2av.h"
#include "call.h"
#include "plan.h"
#include "registry.h"

enum { TAG_DONE = A2AV_TAG_DOWN + 1 };

struct persistent {
    struct persistent *next;
    MPI_Request request;
    struct vas_communicator *own;
    struct vas_plan *plan; /* NULL: MPI's own request, whose starts the caller's `own` counts */
    MPI_Errhandler handler; /* of the caller's communicator, when the request was made */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool started, ends;
};

/* The requests that the library serves, and with a report those that are MPI's own. */
static struct {
    pthread_mutex_t lock;
    struct persistent *first;
    atomic_int count; /* MPI_Start of programs without such requests takes no lock */
    atomic_int served;
} requests = {.lock = PTHREAD_MUTEX_INITIALIZER};

int vas_persistent_requests(void)
{
    return atomic_load(&requests.served);
}

/* Tells the caller, who waits for its receive, that the blocks are there, or of an error. */
static void finish(const struct persistent *one, int error)
{
    MPI_Comm comm = one->own->transport.comm;
    if (error)
        PMPI_Comm_set_errhandler(comm, one->handler);
    PMPI_Send("", error ? 1 : 0, MPI_BYTE, one->own->rank, TAG_DONE, comm);
}

static void *carry_on(void *argument)
{
    struct persistent *one = argument;
    pthread_mutex_lock(&one->lock);
    for (;;) {
        while (!one->started && !one->ends)
            pthread_cond_wait(&one->changed, &one->lock);
        if (!one->started)
            break;
        pthread_mutex_unlock(&one->lock);
        int error = VAS_Alltoallv_start(one->plan);
        /* This comes before the caller hears of the end, as the caller may start again at once. */
        pthread_mutex_lock(&one->lock);
        one->started = false;
        pthread_mutex_unlock(&one->lock);
        finish(one, error);
        pthread_mutex_lock(&one->lock);
    }
    pthread_mutex_unlock(&one->lock);
    return NULL;
}

static void tell(struct persistent *one, bool *what)
{
    pthread_mutex_lock(&one->lock);
    *what = true;
    pthread_cond_signal(&one->changed);
    pthread_mutex_unlock(&one->lock);
}

/* Makes the request and its thread. Returns false where one of them cannot be made. */
static bool set_up(struct persistent *one, MPI_Comm comm)
{
    if (PMPI_Comm_get_errhandler(comm, &one->handler))
        return false;
    if (PMPI_Recv_init(NULL, 0, MPI_BYTE, one->own->rank, TAG_DONE, one->own->transport.comm,
                       &one->request)) {
        PMPI_Errhandler_free(&one->handler);
        return false;
    }
    pthread_mutex_init(&one->lock, NULL);
    pthread_cond_init(&one->changed, NULL);
    if (pthread_create(&one->thread, NULL, carry_on, one) == 0)
        return true;
    PMPI_Request_free(&one->request);
    PMPI_Errhandler_free(&one->handler);
    return false;
}

/* Ends the thread, after the exchange that it is in. */
static void stop(struct persistent *one)
{
    tell(one, &one->ends);
    pthread_join(one->thread, NULL);
    pthread_cond_destroy(&one->changed);
    pthread_mutex_destroy(&one->lock);
    PMPI_Errhandler_free(&one->handler);
}

/* Chooses the settings of a plan, for all of its calls. Returns false where MPI's own function
 * is better. */
static bool choose(const struct vas_communicator *own, const struct a2av_load *load,
                   struct vas_settings *settings)
{
    struct vas_chooser chooser = own->chooser;
    *settings = own->settings;
    settings->chooses = false;
    if (!own->settings.chooses)
        return true;
    vas_chooser_without_memory(&chooser);
    return a2av_choose(&chooser.network, &chooser.layout, load, &settings->core);
}

/* Makes a communicator for one plan alone; NULL where the library cannot serve it. Its ranks of
 * a node share no memory: that could only be freed by all of them at once, and MPI_Request_free
 * waits for nobody. */
static struct vas_communicator *private_to_plan(MPI_Comm comm, const struct vas_settings *settings)
{
    struct vas_communicator *own = vas_communicator_new(comm, settings);
    if (own && own->passes) {
        vas_communicator_free(own);
        return NULL;
    }
    if (own) {
        own->gone = own->nodes.shared = own->transport.yields = true;
        own->transport.base.window = NULL;
    }
    return own;
}

static void add(struct persistent *one)
{
    pthread_mutex_lock(&requests.lock);
    one->next = requests.first;
    requests.first = one;
    atomic_fetch_add(&requests.count, 1);
    atomic_fetch_add(&requests.served, one->plan != NULL);
    pthread_mutex_unlock(&requests.lock);
}

/* Returns the library's part of a request, and with `taken` forgets it; NULL for a request of
 * others. */
static struct persistent *find(MPI_Request request, bool taken)
{
    struct persistent **link, *found = NULL;
    if (atomic_load(&requests.count) == 0 || request == MPI_REQUEST_NULL)
        return NULL;
    pthread_mutex_lock(&requests.lock);
    for (link = &requests.first; *link && !found; link = found ? link : &(*link)->next)
        found = (*link)->request == request ? *link : NULL;
    if (found && taken) {
        *link = found->next;
        atomic_fetch_sub(&requests.count, 1);
        atomic_fetch_sub(&requests.served, found->plan != NULL);
    }
    pthread_mutex_unlock(&requests.lock);
    return found;
}

/* Makes a request that the library serves; collective. `made` is NULL on all ranks where MPI's
 * own function must do it. Returns 0 or an error of MPI. */
static int make(struct vas_communicator *callers, MPI_Comm comm, const struct vas_side *send,
                const struct vas_side *receive, struct persistent **made)
{
    struct a2av_load load;
    struct vas_settings settings;
    bool all, tries = callers->settings.chooses;
    int level = MPI_THREAD_SINGLE;
    const struct vas_side *from = send->base == MPI_IN_PLACE ? NULL : send;
    *made = NULL;
    PMPI_Query_thread(&level);
    int error = vas_look(callers, from, receive, level == MPI_THREAD_MULTIPLE, &all, &load);
    if (error || !all || !choose(callers, &load, &settings))
        return error;
    struct vas_communicator *own = private_to_plan(comm, &settings);
    if (!own)
        return 0;
    struct persistent *one = calloc(1, sizeof *one);
    if (one)
        one->own = own;
    bool ready = one && set_up(one, comm);
    struct vas_plan *plan = NULL;
    error = vas_plan_make(own, send, receive, ready, tries, &plan);
    if (plan) {
        one->plan = plan;
        add(one);
        *made = one;
        return 0;
    }
    if (ready) {
        stop(one);
        PMPI_Request_free(&one->request);
    }
    vas_communicator_free(own);
    free(one);
    return error;
}

/* Makes a request that the library serves, and sets it; `made` tells whether there is one. `own` is
 * set to the state of the communicator. Returns 0 or an error, of which the communicator's error
 * handler was told. */
static int serve(const struct vas_side *send, const struct vas_side *receive, MPI_Comm comm,
                 MPI_Request *request, bool *made, struct vas_communicator **own)
{
    struct persistent *one = NULL;
    *own = vas_registry_find(comm);
    int error = *own && !(*own)->passes ? make(*own, comm, send, receive, &one) : 0;
    *made = one != NULL;
    if (one)
        *request = one->request;
    if (error)
        PMPI_Comm_call_errhandler(comm, error);
    return error;
}

/* Notes a request that MPI's own function made, for the report. Returns `error`. */
static int note(struct vas_communicator *own, int error, const MPI_Request *request)
{
    struct persistent *one = NULL;
    if (!error && own && own->settings.report)
        one = calloc(1, sizeof *one);
    if (!one)
        return error;
    vas_registry_hold(own);
    one->own = own;
    one->request = *request;
    add(one);
    return error;
}

static void started(struct persistent *one)
{
    if (one->plan) {
        tell(one, &one->started);
        return;
    }
    enum vas_passed why = one->own->passes ? VAS_PASSED_ALL : VAS_PASSED_REQUESTS;
    /* Several threads may start requests. */
    __atomic_fetch_add(&one->own->totals.passed[why], 1, __ATOMIC_RELAXED);
}

int MPI_Alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
                       MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                       const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                       MPI_Request *request)
{
    struct vas_side send = {sendbuf, sendcounts, sdispls, &sendtype, false, false};
    struct vas_side receive = {recvbuf, recvcounts, rdispls, &recvtype, false, false};
    struct vas_communicator *own;
    bool made;
    int error = serve(&send, &receive, comm, request, &made, &own);
    if (error || made)
        return error;
    error = PMPI_Alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                                recvtype, comm, info, request);
    return note(own, error, request);
}

#if MPI_VERSION >= 4
int MPI_Alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                         const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                         const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                         MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                         MPI_Request *request)
{
    struct vas_side send = {sendbuf, sendcounts, sdispls, &sendtype, true, false};
    struct vas_side receive = {recvbuf, recvcounts, rdispls, &recvtype, true, false};
    struct vas_communicator *own;
    bool made;
    int error = serve(&send, &receive, comm, request, &made, &own);
    if (error || made)
        return error;
    error = PMPI_Alltoallv_init_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                  rdispls, recvtype, comm, info, request);
    return note(own, error, request);
}
#endif

int MPI_Start(MPI_Request *request)
{
    struct persistent *one = request ? find(*request, false) : NULL;
    int error = PMPI_Start(request);
    if (!error && one)
        started(one);
    return error;
}

int MPI_Startall(int count, MPI_Request array_of_requests[])
{
    int error = PMPI_Startall(count, array_of_requests);
    for (int i = 0; i < count && !error; i++) {
        struct persistent *one = find(array_of_requests[i], false);
        if (one)
            started(one);
    }
    return error;
}

int MPI_Request_free(MPI_Request *request)
{
    struct persistent *one = request ? find(*request, true) : NULL;
    if (one && one->plan)
        stop(one);
    int error = PMPI_Request_free(request);
    if (one && one->plan)
        VAS_Alltoallv_free(&one->plan);
    else if (one)
        vas_registry_release(one->own);
    free(one);
    return error;
}

#endif
