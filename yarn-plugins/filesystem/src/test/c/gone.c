/*
 * Plays another client of Lustre that removes what is just being looked at (LD_PRELOAD): a file or directory whose path
 * ends in "estale" or "enoent" is removed when its handle is asked what it is, which is then that error; and a directory
 * that ends in "unlisted" when it is opened by its handle, which is then ENOENT.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

static int removed(const char *handle, const char *end)
{
    char path[4096];
    int fd, rest = 0;
    ssize_t length;

    if (sscanf(handle, "/proc/self/fd/%d%n", &fd, &rest) != 1 || handle[rest])
        return 0;
    length = readlink(handle, path, sizeof(path) - 1);
    if (length < (ssize_t)strlen(end))
        return 0;
    path[length] = 0;
    return strcmp(path + length - strlen(end), end) == 0 && remove(path) == 0;
}

int statx(int directory, const char *name, int flags, unsigned int mask, struct statx *buffer)
{
    if (removed(name, "estale")) {
        errno = ESTALE;
        return -1;
    }
    if (removed(name, "enoent")) {
        errno = ENOENT;
        return -1;
    }
    return NEXT(statx)(directory, name, flags, mask, buffer);
}

int open64(const char *name, int flags, ...)
{
    va_list arguments;
    mode_t mode = 0;

    if (removed(name, "unlisted")) {
        errno = ENOENT;
        return -1;
    }
    if (flags & (O_CREAT | O_TMPFILE)) {
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    return NEXT(open64)(name, flags, mode);
}
