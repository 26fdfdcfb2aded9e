/*
 * Counts the locks that programs ask for: on a Lustre that is mounted with `flock`, each is a
 * request to the MDT. This machine's kernel grants them, to all nodes of the lab alike.
 */
#include "lab.h"

#include <stdarg.h>
#include <sys/file.h>

int flock(int fd, int operation)
{
    if (!(operation & LOCK_UN))
        count_lock(fd);
    return NEXT(flock)(fd, operation);
}

static void lockf_asked(int fd, int command)
{
    if (command == F_LOCK || command == F_TLOCK)
        count_lock(fd);
}

int lockf(int fd, int command, off_t length)
{
    lockf_asked(fd, command);
    return NEXT(lockf)(fd, command, length);
}

int lockf64(int fd, int command, off64_t length)
{
    lockf_asked(fd, command);
    return NEXT(lockf64)(fd, command, length);
}

static void fcntl_asked(int fd, int command, const void *argument)
{
    switch (command) {
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_SETLK:
    case F_OFD_SETLKW:
        /* The type is the first member of struct flock and of struct flock64. */
        if (*(const short *)argument != F_UNLCK)
            count_lock(fd);
    }
}

/* What a call without a third argument leaves in its place, the libc takes and leaves too. */
#define FCNTL(name)                                                         \
    int name(int fd, int command, ...)                                      \
    {                                                                       \
        va_list rest;                                                       \
        void *argument;                                                     \
        va_start(rest, command);                                            \
        argument = va_arg(rest, void *);                                    \
        va_end(rest);                                                       \
        fcntl_asked(fd, command, argument);                                 \
        return NEXT(name)(fd, command, argument);                           \
    }
FCNTL(fcntl)
FCNTL(fcntl64)
