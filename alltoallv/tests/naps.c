/* Lets a rank of MPICH 4 or Open MPI 4 sleep while it waits, so that many ranks can share few
 * cores. Other MPIs have settings for it, which vas_a2av.launching sets.
 *
 * MPICH 4.0.2 polls without end; 17 ranks on two cores take each other's time twenty times over.
 * Its loop calls UCX's ucp_worker_progress, which a program may define: this one calls UCX's own,
 * and sleeps after some calls that found nothing.
 *
 * Open MPI 4 calls sched_yield, which a program may define too, whenever it found nothing. A rank
 * that yields to 32 others that do the same, and to other programs, waits for all of them. */
#include <dlfcn.h>
#include <mpi.h>
#include <time.h>

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
int sched_yield(void);

int sched_yield(void)
{
    /* As short as Open MPI 5's setting; Linux adds some 50 us. */
    return nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
}
#else
enum { LOOKS = 16, NAP_MOST = 200000 }; /* calls between two naps; nanoseconds */

unsigned ucp_worker_progress(void *worker);

unsigned ucp_worker_progress(void *worker)
{
    static _Thread_local int idle;
    static _Thread_local long nap = 1;
    static _Thread_local unsigned (*own)(void *);
    if (!own)
        *(void **)&own = dlsym(RTLD_NEXT, "ucp_worker_progress");
    unsigned found = own(worker);
    if (found) {
        idle = 0;
        nap = 1;
    } else if (++idle == LOOKS) {
        idle = 0;
        nanosleep(&(struct timespec){.tv_nsec = nap}, NULL);
        nap = nap < NAP_MOST ? 4 * nap : nap;
    }
    return found;
}
#endif
