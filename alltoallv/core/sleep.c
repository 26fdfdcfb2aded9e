#include "sleep.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Not FUTEX_PRIVATE_FLAG: those who sleep are other processes. */
void a2av_sleep(_Atomic uint32_t *word, uint32_t seen, long microseconds)
{
    struct timespec most = {microseconds / 1000000, microseconds % 1000000 * 1000};
    syscall(SYS_futex, word, FUTEX_WAIT, seen, &most, NULL, 0);
}

void a2av_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
