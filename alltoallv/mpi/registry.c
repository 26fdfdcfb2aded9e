#include "registry.h"

#include <pthread.h>

/* The library's only state of a process: the core has none. */
static struct {
    pthread_mutex_t lock;
    bool ready, failed, ended;
    int keyval;
    struct vas_settings settings;
    struct vas_communicator *first;
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
    struct vas_communicator *own = value;
    (void)comm, (void)keyval, (void)extra;
    pthread_mutex_lock(&registry.lock);
    *own->link = own->next;
    if (own->next)
        own->next->link = own->link;
    bool ended = registry.ended, held = own->plans > 0;
    own->gone = true;
    pthread_mutex_unlock(&registry.lock);
    if (ended)
        own->ended = true;
    else
        report(own);
    if (!held)
        vas_communicator_free(own);
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
    if (last)
        vas_communicator_free(own);
}

static bool make_ready(void)
{
    pthread_mutex_lock(&registry.lock);
    if (!registry.ready && !registry.failed) {
        registry.settings = vas_settings_from_environment();
        registry.failed = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget,
                                                  &registry.keyval, NULL) != MPI_SUCCESS;
        registry.ready = !registry.failed;
    }
    bool ready = registry.ready;
    pthread_mutex_unlock(&registry.lock);
    return ready;
}

static struct vas_communicator *make(MPI_Comm comm)
{
    struct vas_communicator *own = vas_communicator_new(comm, &registry.settings);
    if (!own)
        return NULL;
    pthread_mutex_lock(&registry.lock);
    own->next = registry.first;
    own->link = &registry.first;
    if (own->next)
        own->next->link = &own->next;
    registry.first = own;
    pthread_mutex_unlock(&registry.lock);
    if (PMPI_Comm_set_attr(comm, registry.keyval, own) != MPI_SUCCESS)
        own->passes = "MPI kept no attribute";
    return own;
}

struct vas_communicator *vas_registry_find(MPI_Comm comm)
{
    void *value;
    int found = 0, inter = 0;
    if (comm == MPI_COMM_NULL || !make_ready())
        return NULL;
    if (PMPI_Comm_get_attr(comm, registry.keyval, &value, &found) != MPI_SUCCESS)
        return NULL;
    if (found)
        return value;
    if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter)
        return NULL;
    return make(comm);
}

void vas_registry_report(bool ended)
{
    pthread_mutex_lock(&registry.lock);
    registry.ended = registry.ended || ended;
    for (struct vas_communicator *own = registry.first; own; own = own->next)
        report(own);
    pthread_mutex_unlock(&registry.lock);
}
