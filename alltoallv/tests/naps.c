/* Lets a rank of MPICH 4 sleep while it waits, so that many ranks can share few cores.
 *
 * MPICH 4.0.2 polls without end and has no setting against it; 17 ranks on two cores take each
 * other's time twenty times over. Its loop calls UCX's ucp_worker_progress, which a program may
 * define: this one calls UCX's own, and sleeps after some calls that found nothing. Other MPIs
 * have settings, which vas_a2av.launching sets. */
#include <dlfcn.h>
#include <time.h>

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
