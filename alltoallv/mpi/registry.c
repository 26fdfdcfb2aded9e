#include "registry.h"

#include <pthread.h>
#include <stdlib.h>

/* The value of the attribute: a communicator's state, in the list of all. */
struct kept {
    struct kept *next, **link;
    struct vas_communicator *own; /* NULL until it is made: it is in no list */
};

/* The library's only state of a process: the core has none. */
static struct {
    pthread_mutex_t lock;
    bool ready;
    bool ended; /* MPI_Finalize has begun: what is freed frees memory only */
    int keyval;
    struct vas_settings settings;
    struct kept *first;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER, .keyval = MPI_KEYVAL_INVALID};

static void report(struct vas_communicator *own)
{
    unsigned long long seen = vas_totals_calls(&own->totals);
    if (own->settings.report && own->rank == 0 && seen > own->totals.reported)
        vas_communicator_report(own);
    own->totals.reported = seen;
}

/* MPI calls this when a communicator is freed: on all of its ranks, as that is collective. */
static int forget(MPI_Comm comm, int keyval, void *value, void *extra)
{
    struct kept *kept = value;
    struct vas_communicator *own = kept->own;
    (void)comm, (void)keyval, (void)extra;
    if (own) {
        pthread_mutex_lock(&registry.lock);
        *kept->link = kept->next;
        if (kept->next)
            kept->next->link = kept->link;
        bool held = own->plans > 0;
        own->gone = true;
        own->ended = registry.ended;
        pthread_mutex_unlock(&registry.lock);
        report(own);
        if (!held)
            vas_communicator_free(own);
    }
    free(kept);
    return MPI_SUCCESS;
}

void vas_registry_hold(struct vas_communicator *own)
{
    pthread_mutex_lock(&registry.lock);
    own->plans++;
    pthread_mutex_unlock(&registry.lock);
}

void vas_registry_release(struct vas_communicator *own)
{
    pthread_mutex_lock(&registry.lock);
    bool last = --own->plans == 0 && own->gone;
    own->ended = own->ended || registry.ended;
    pthread_mutex_unlock(&registry.lock);
    if (!last)
        return;
    report(own);
    vas_communicator_free(own);
}

/* MPI_Finalize calls this before it does anything else. */
static int end(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    pthread_mutex_lock(&registry.lock);
    registry.ended = true;
    pthread_mutex_unlock(&registry.lock);
    vas_registry_report();
    return MPI_SUCCESS;
}

/* Asks MPI_Finalize to call `end`, by an attribute of MPI_COMM_SELF. A program of sessions alone
 * has no such communicator, and never calls MPI_Finalize. Returns 0 or an error of MPI. */
static int watch_end(void)
{
    int world, keyval, error = PMPI_Initialized(&world);
    if (error || !world)
        return error;
    error = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end, &keyval, NULL);
    if (error)
        return error;
    error = PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
    PMPI_Comm_free_keyval(&keyval);
    return error;
}

static bool make_ready(void)
{
    pthread_mutex_lock(&registry.lock);
    if (registry.keyval == MPI_KEYVAL_INVALID &&
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &registry.keyval, NULL))
        registry.keyval = MPI_KEYVAL_INVALID;
    if (!registry.ready && registry.keyval != MPI_KEYVAL_INVALID && watch_end() == 0) {
        registry.settings = vas_settings_from_environment();
        registry.ready = true;
    }
    bool ready = registry.ready;
    pthread_mutex_unlock(&registry.lock);
    return ready;
}

static void add(struct kept *kept)
{
    pthread_mutex_lock(&registry.lock);
    kept->next = registry.first;
    kept->link = &registry.first;
    if (kept->next)
        kept->next->link = &kept->next;
    registry.first = kept;
    pthread_mutex_unlock(&registry.lock);
}

/* Makes the state of a communicator; collective. Ranks that cannot keep it take part: where one
 * cannot, no rank keeps anything, so that all of them come here again at the next call. */
static struct vas_communicator *make(MPI_Comm comm, bool ready)
{
    struct kept *kept = ready ? calloc(1, sizeof *kept) : NULL;
    bool set = kept && PMPI_Comm_set_attr(comm, registry.keyval, kept) == MPI_SUCCESS;
    struct vas_communicator *own = vas_communicator_new_if(comm, &registry.settings, set);
    if (own) {
        kept->own = own;
        add(kept);
    } else if (set) {
        PMPI_Comm_delete_attr(comm, registry.keyval);
    } else {
        free(kept);
    }
    return own;
}

struct vas_communicator *vas_registry_find(MPI_Comm comm)
{
    struct kept *kept;
    int found = 0, inter = 0;
    if (comm == MPI_COMM_NULL)
        return NULL;
    bool ready = make_ready();
    if (ready && PMPI_Comm_get_attr(comm, registry.keyval, &kept, &found) != MPI_SUCCESS)
        return NULL;
    if (found)
        return kept->own;
    if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter)
        return NULL;
    return make(comm, ready);
}

void vas_registry_report(void)
{
    pthread_mutex_lock(&registry.lock);
    for (struct kept *kept = registry.first; kept; kept = kept->next)
        report(kept->own);
    pthread_mutex_unlock(&registry.lock);
}
