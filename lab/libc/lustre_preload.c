/*
 * Makes libc calls on the lab's mount behave as on a Lustre client (LD_PRELOAD).
 *
 *   VAS_LAB_MOUNT  the mount; everything elsewhere goes straight to libc
 *   VAS_LAB_MDS    the Unix socket of the lab's MDS (python -m vas_lab.lustre.mds)
 *
 * The stored layout is the xattr user.lustre.lov. What is read is served here; whatever
 * makes or changes a layout is done by the MDS, to which the file travels as a descriptor:
 * no path is sent, so renames and working directories do not matter. One connection per
 * request: a cached socket would be closed by the many programs that close all descriptors.
 * A file without the xattr is one that mknod made: it gets its layout from setxattr or, by
 * default, from the first open for writing. Nothing is needed in mknod itself for that.
 */
#include "lab.h"

#include <stdarg.h>
#include <sys/vfs.h>

#define HIDDEN "user.lustre."
#define SHOWN "lustre.lov"
#define LUSTRE_SUPER_MAGIC 0x0BD00BD0
/* fcntl.h of Lustre: O_LOV_DELAY_CREATE is this bit with FASYNC and O_NOCTTY. */
#define DELAY_CREATE (0100000000 | O_ASYNC | O_NOCTTY)

/* Callers compiled with _FORTIFY_SOURCE; the headers declare these only then. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags);

/* ---- opening ---- */

static bool lacks_layout(int fd)
{
    struct stat info;

    return NEXT(fstat)(fd, &info) == 0 && S_ISREG(info.st_mode) &&
           fgetxattr(fd, STORED, NULL, 0) < 0 && errno == ENODATA;
}

/* Gives a file opened for writing, or just created, its default layout. */
static int opened(int fd, int flags)
{
    int saved = errno, error = 0;

    if (fd >= 0 && !(flags & O_PATH) && osts_are_watched())
        count_open(fd);
    if (fd < 0 || (flags & O_PATH) || (flags & DELAY_CREATE) == DELAY_CREATE)
        return fd;
    if ((flags & O_ACCMODE) == O_RDONLY && !(flags & O_CREAT))
        return fd;
    if (on_lustre(fd)) {
        if ((flags & O_TMPFILE) == O_TMPFILE)
            error = EOPNOTSUPP; /* as Lustre 2.17 */
        else if (lacks_layout(fd))
            error = ask(fd, "create", NULL, 0);
    }
    errno = saved;
    if (error) {
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

static mode_t mode_argument(int flags, va_list arguments)
{
    return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;
}

#define OPEN(name, parameters, ...)                                         \
    int name parameters                                                     \
    {                                                                       \
        va_list rest;                                                       \
        mode_t mode;                                                        \
        va_start(rest, flags);                                              \
        mode = mode_argument(flags, rest);                                  \
        va_end(rest);                                                       \
        return opened(NEXT(name)(__VA_ARGS__, flags, mode), flags);         \
    }
OPEN(open, (const char *path, int flags, ...), path)
OPEN(open64, (const char *path, int flags, ...), path)
OPEN(openat, (int dir, const char *path, int flags, ...), dir, path)
OPEN(openat64, (int dir, const char *path, int flags, ...), dir, path)

#define WRAP(name, parameters, call, flags)                                 \
    int name parameters { return opened(NEXT(name) call, flags); }
WRAP(__open_2, (const char *path, int flags), (path, flags), flags)
WRAP(__open64_2, (const char *path, int flags), (path, flags), flags)
WRAP(__openat_2, (int dir, const char *path, int flags), (dir, path, flags), flags)
WRAP(__openat64_2, (int dir, const char *path, int flags), (dir, path, flags), flags)
WRAP(creat, (const char *path, mode_t mode), (path, mode), O_CREAT | O_WRONLY)
WRAP(creat64, (const char *path, mode_t mode), (path, mode), O_CREAT | O_WRONLY)
/* These open inside libc, where no other library's open is seen. */
WRAP(mkstemp, (char *path), (path), O_CREAT | O_RDWR)
WRAP(mkstemp64, (char *path), (path), O_CREAT | O_RDWR)
WRAP(mkostemp, (char *path, int flags), (path, flags), O_CREAT | O_RDWR)
WRAP(mkostemp64, (char *path, int flags), (path, flags), O_CREAT | O_RDWR)
WRAP(mkstemps, (char *path, int suffix), (path, suffix), O_CREAT | O_RDWR)
WRAP(mkstemps64, (char *path, int suffix), (path, suffix), O_CREAT | O_RDWR)
WRAP(mkostemps, (char *path, int suffix, int flags), (path, suffix, flags), O_CREAT | O_RDWR)
WRAP(mkostemps64, (char *path, int suffix, int flags), (path, suffix, flags), O_CREAT | O_RDWR)

static FILE *stream_opened(FILE *stream, const char *mode)
{
    int copy, error;

    if (!stream || !strpbrk(mode, "wa+"))
        return stream;
    /* opened() closes what it refuses, and the stream must close its own descriptor. */
    copy = fcntl(fileno(stream), F_DUPFD_CLOEXEC, 0);
    if (copy >= 0 && opened(copy, O_CREAT | O_RDWR) < 0) {
        error = errno;
        fclose(stream);
        errno = error;
        return NULL;
    }
    if (copy >= 0)
        close(copy);
    return stream;
}

#define STREAM(name, parameters, call)                                      \
    FILE *name parameters { return stream_opened(NEXT(name) call, mode); }
STREAM(fopen, (const char *path, const char *mode), (path, mode))
STREAM(fopen64, (const char *path, const char *mode), (path, mode))
STREAM(freopen, (const char *path, const char *mode, FILE *old), (path, mode, old))
STREAM(freopen64, (const char *path, const char *mode, FILE *old), (path, mode, old))

/* A new directory takes its parent's default layout. */
static int directory_made(int result, int dir, const char *path)
{
    char name[NAME_OF_FD], value[XATTR_SIZE_MAX];
    int saved = errno, made, parent;
    ssize_t size;

    if (result < 0 || (made = name_on_lustre(dir, path, O_NOFOLLOW)) < 0)
        return result;
    parent = NEXT(openat)(made, "..", O_PATH | O_CLOEXEC);
    size = parent < 0 ? -1 : getxattr(link_of(parent, name), STORED, value, sizeof(value));
    if (size > 0 && setxattr(link_of(made, name), STORED, value, (size_t)size, 0) < 0)
        result = -1, saved = errno;
    if (parent >= 0)
        close(parent);
    close(made);
    errno = saved;
    return result;
}

int mkdir(const char *path, mode_t mode)
{
    return directory_made(NEXT(mkdir)(path, mode), AT_FDCWD, path);
}

int mkdirat(int dir, const char *path, mode_t mode)
{
    return directory_made(NEXT(mkdirat)(dir, path, mode), dir, path);
}

char *mkdtemp(char *path)
{
    char *made = NEXT(mkdtemp)(path);

    return made && directory_made(0, AT_FDCWD, path) < 0 ? NULL : made;
}

/* ---- the xattr ---- */

/* Names as a client shows them: the stored xattrs stay unseen, lest `cp -a` copies objects. */
static ssize_t rename_list(const char *all, ssize_t length, char *list, size_t size)
{
    char shown[XATTR_LIST_MAX + sizeof(SHOWN)];
    size_t used = 0;

    for (const char *name = all; name < all + length; name += strlen(name) + 1) {
        const char *as = name;
        if (strcmp(name, STORED) == 0)
            as = SHOWN;
        else if (strncmp(name, HIDDEN, strlen(HIDDEN)) == 0)
            continue;
        memcpy(shown + used, as, strlen(as) + 1);
        used += strlen(as) + 1;
    }
    if (size > 0 && used > size) {
        errno = ERANGE;
        return -1;
    }
    if (size > 0)
        memcpy(list, shown, used);
    return (ssize_t)used;
}

#define FINISH(type, fd, result)                                            \
    ({                                                                      \
        type outcome = (result);                                            \
        int error_ = errno;                                                 \
        close(fd);                                                          \
        errno = error_;                                                     \
        outcome;                                                            \
    })

#define XATTRS(prefix, key_type, key, lookup)                               \
    ssize_t prefix##getxattr(key_type key, const char *name, void *value, size_t size) \
    {                                                                       \
        int fd = strcmp(name, SHOWN) ? -1 : lookup;                         \
        if (fd < 0)                                                         \
            return NEXT(prefix##getxattr)(key, name, value, size);          \
        return FINISH(ssize_t, fd, read_layout(fd, value, size));           \
    }                                                                       \
    int prefix##setxattr(key_type key, const char *name, const void *value, size_t size, int flags) \
    {                                                                       \
        int fd = strcmp(name, SHOWN) ? -1 : lookup;                         \
        if (fd < 0)                                                         \
            return NEXT(prefix##setxattr)(key, name, value, size, flags);   \
        return FINISH(int, fd, write_layout(fd, value, size));              \
    }                                                                       \
    ssize_t prefix##listxattr(key_type key, char *list, size_t size)        \
    {                                                                       \
        char all[XATTR_LIST_MAX];                                           \
        ssize_t length;                                                     \
        int fd = lookup;                                                    \
        if (fd < 0)                                                         \
            return NEXT(prefix##listxattr)(key, list, size);                \
        length = NEXT(prefix##listxattr)(key, all, sizeof(all));            \
        return FINISH(ssize_t, fd, length < 0 ? -1 : rename_list(all, length, list, size)); \
    }
XATTRS(, const char *, path, name_on_lustre(AT_FDCWD, path, 0))
XATTRS(l, const char *, path, name_on_lustre(AT_FDCWD, path, O_NOFOLLOW))
XATTRS(f, int, descriptor, (on_lustre(descriptor) ? fcntl(descriptor, F_DUPFD_CLOEXEC, 0) : -1))

/* ---- what kind of file system ---- */

#define STATFS(name, type, key_type, key, lookup)                           \
    int name(key_type key, struct type *info)                               \
    {                                                                       \
        int fd = lookup, result = NEXT(name)(key, info);                    \
        if (result == 0 && fd >= 0)                                         \
            info->f_type = LUSTRE_SUPER_MAGIC;                              \
        return fd < 0 ? result : FINISH(int, fd, result);                   \
    }
STATFS(statfs, statfs, const char *, path, name_on_lustre(AT_FDCWD, path, 0))
STATFS(statfs64, statfs64, const char *, path, name_on_lustre(AT_FDCWD, path, 0))
STATFS(fstatfs, statfs, int, key_, (on_lustre(key_) ? fcntl(key_, F_DUPFD_CLOEXEC, 0) : -1))
STATFS(fstatfs64, statfs64, int, key_, (on_lustre(key_) ? fcntl(key_, F_DUPFD_CLOEXEC, 0) : -1))
