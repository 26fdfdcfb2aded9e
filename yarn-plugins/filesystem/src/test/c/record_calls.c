/*
 * Writes down, in their order, the calls of a process that change names or bring bytes to disk
 * (LD_PRELOAD): one line each, CALL PATH [PATH], to the file $VAS_RECORD. Only what succeeded.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

static void note(const char *call, const char *first, const char *second)
{
    char line[2 * PATH_MAX + 32];
    const char *file = getenv("VAS_RECORD");
    int saved = errno, length, fd = file ? open(file, O_WRONLY | O_APPEND | O_CREAT, 0600) : -1;

    if (fd >= 0) {
        length = snprintf(line, sizeof(line), "%s %s %s\n", call, first, second);
        if (write(fd, line, (size_t)length) != length)
            abort();
        close(fd);
    }
    errno = saved;
}

static void note_open(const char *call, int fd)
{
    char name[32], path[PATH_MAX] = "";
    int saved = errno;

    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    if (readlink(name, path, sizeof(path) - 1) > 0)
        note(call, path, "");
    errno = saved;
}

#define ON_OPEN(type, name, parameters, arguments, as)                      \
    type name parameters                                                    \
    {                                                                       \
        type result = NEXT(name) arguments;                                 \
        if (result >= 0)                                                    \
            note_open(as, fd);                                              \
        return result;                                                      \
    }
ON_OPEN(int, fsync, (int fd), (fd), "fsync")
ON_OPEN(int, fdatasync, (int fd), (fd), "fsync")
ON_OPEN(ssize_t, pwrite, (int fd, const void *from, size_t n, off_t at), (fd, from, n, at), "write")
ON_OPEN(ssize_t, pwrite64, (int fd, const void *from, size_t n, off64_t at), (fd, from, n, at),
        "write")

/* A name in a directory that is held open, /proc/self/fd/N/NAME, by the directory's own path. */
static const char *by_path(const char *name, char *path)
{
    int fd, rest = 0;
    char handle[32];
    ssize_t length;

    if (sscanf(name, "/proc/self/fd/%d%n", &fd, &rest) != 1)
        return name;
    snprintf(handle, sizeof(handle), "/proc/self/fd/%d", fd);
    length = readlink(handle, path, PATH_MAX - 1);
    if (length < 0)
        return name;
    snprintf(path + length, PATH_MAX - (size_t)length, "%s", name + rest);
    return path;
}

#define ON_NAMES(name)                                                      \
    int name(const char *from, const char *to)                              \
    {                                                                       \
        char first[PATH_MAX], second[PATH_MAX];                             \
        int result = NEXT(name)(from, to);                                  \
        if (result == 0)                                                    \
            note(#name, by_path(from, first), by_path(to, second));         \
        return result;                                                      \
    }
ON_NAMES(rename)
ON_NAMES(link)
