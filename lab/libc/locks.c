/*
 * Counts the locks that programs get: on a Lustre that is mounted with `flock`, each is a request to
 * the MDT, and its end another. This machine's kernel grants them, to all nodes of the lab alike.
 */
#include "lab.h"

#include <stdarg.h>
#include <sys/file.h>

static int got(int result, int fd, bool locks)
{
    if (result == 0 && locks)
        count_lock(fd);
    return result;
}

int flock(int fd, int operation)
{
    return got(NEXT(flock)(fd, operation), fd, !(operation & LOCK_UN));
}

int lockf(int fd, int command, off_t length)
{
    return got(NEXT(lockf)(fd, command, length), fd, command == F_LOCK || command == F_TLOCK);
}

int lockf64(int fd, int command, off64_t length)
{
    return got(NEXT(lockf64)(fd, command, length), fd, command == F_LOCK || command == F_TLOCK);
}

/* Tells whether a call of fcntl that succeeded took a lock. */
static bool is_lock(int command, const void *argument)
{
    switch (command) {
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_SETLK:
    case F_OFD_SETLKW:
        /* The type is the first member of struct flock and of struct flock64. */
        return *(const short *)argument != F_UNLCK;
    default:
        return false;
    }
}

/* Calls without a third argument pass on what is in its place: libc's own fcntl does the same. */
#define FCNTL(name)                                                         \
    int name(int fd, int command, ...)                                      \
    {                                                                       \
        va_list rest;                                                       \
        void *argument;                                                     \
        int result;                                                         \
        va_start(rest, command);                                            \
        argument = va_arg(rest, void *);                                    \
        va_end(rest);                                                       \
        result = NEXT(name)(fd, command, argument);                         \
        return got(result, fd, result == 0 && is_lock(command, argument));  \
    }
FCNTL(fcntl)
FCNTL(fcntl64)
