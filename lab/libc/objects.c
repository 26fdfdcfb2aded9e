/*
 * The calls that a Lustre client passes on to OSTs: they fail while one they need is away, and are
 * counted where asked for. Costs one load of memory while nothing is watched.
 *
 * A client that holds locks asks less: each look here is a glimpse of each object. Bytes are looked
 * at where a program reads and writes them itself; inside libc (stdio) and in mapped memory not.
 */
#include "lab.h"

#include <stdarg.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

#define REFUSE(error)                                                       \
    do {                                                                    \
        int refused = (error);                                              \
        if (refused) {                                                      \
            errno = refused;                                                \
            return -1;                                                      \
        }                                                                   \
    } while (0)

static int ask_named(int dir, const char *path, int nofollow, enum request kind)
{
    int fd = name_on_lustre(dir, path, nofollow), error;

    if (fd < 0)
        return 0;
    error = ask_objects(fd, kind);
    close(fd);
    return error;
}

/* ---- looking: a glimpse of each object ---- */

#define LOOK(name, parameters, call, lookup)                                \
    int name parameters                                                     \
    {                                                                       \
        int result = NEXT(name) call;                                       \
        if (result == 0 && osts_are_watched())                              \
            REFUSE(lookup);                                                 \
        return result;                                                      \
    }
#define NO_FOLLOW(flags) ((flags) & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0)
/* With an empty path the descriptor itself is meant. */
static int look_at(int dir, const char *path, int flags)
{
    if ((flags & AT_EMPTY_PATH) && path && !*path)
        return ask_objects(dir, GLIMPSE);
    return ask_named(dir, path, NO_FOLLOW(flags), GLIMPSE);
}

LOOK(stat, (const char *path, struct stat *info), (path, info), look_at(AT_FDCWD, path, 0))
LOOK(stat64, (const char *path, struct stat64 *info), (path, info), look_at(AT_FDCWD, path, 0))
LOOK(lstat, (const char *path, struct stat *info), (path, info),
     look_at(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW))
LOOK(lstat64, (const char *path, struct stat64 *info), (path, info),
     look_at(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW))
LOOK(fstat, (int fd, struct stat *info), (fd, info), ask_objects(fd, GLIMPSE))
LOOK(fstat64, (int fd, struct stat64 *info), (fd, info), ask_objects(fd, GLIMPSE))
LOOK(fstatat, (int dir, const char *path, struct stat *info, int flags), (dir, path, info, flags),
     look_at(dir, path, flags))
LOOK(fstatat64, (int dir, const char *path, struct stat64 *info, int flags),
     (dir, path, info, flags), look_at(dir, path, flags))
/* Size, blocks and times are the OSTs'; the rest is the MDT's. */
#define OF_OSTS (STATX_SIZE | STATX_BLOCKS | STATX_MTIME | STATX_ATIME)
LOOK(statx, (int dir, const char *path, int flags, unsigned int mask, struct statx *info),
     (dir, path, flags, mask, info), mask &OF_OSTS ? look_at(dir, path, flags) : 0)

/* ---- bytes ---- */

static int ask_at(int fd, size_t length, bool writing)
{
    int saved = errno;
    off_t at = lseek(fd, 0, SEEK_CUR);

    errno = saved;
    return at < 0 ? 0 : ask_range(fd, (uint64_t)at, length, writing);
}

static size_t length_of(const struct iovec *parts, int count)
{
    size_t length = 0;

    for (int i = 0; i < count; i++)
        length += parts[i].iov_len;
    return length;
}

/* `crossing` sees how many bytes were moved as `moved`. */
#define MOVE(name, parameters, call, question, crossing)                    \
    ssize_t name parameters                                                 \
    {                                                                       \
        ssize_t moved;                                                      \
        if (osts_are_watched())                                             \
            REFUSE(question);                                               \
        moved = NEXT(name) call;                                            \
        return moved > 0 ? (crossing) : moved;                              \
    }
#define IN(fd, at) crossed(moved, fd, at, false)
#define OUT(fd, at) crossed(moved, fd, at, true)
MOVE(read, (int fd, void *to, size_t n), (fd, to, n), ask_at(fd, n, false), IN(fd, -1))
MOVE(write, (int fd, const void *from, size_t n), (fd, from, n), ask_at(fd, n, true), OUT(fd, -1))
MOVE(readv, (int fd, const struct iovec *to, int n), (fd, to, n),
     ask_at(fd, length_of(to, n), false), IN(fd, -1))
MOVE(writev, (int fd, const struct iovec *from, int n), (fd, from, n),
     ask_at(fd, length_of(from, n), true), OUT(fd, -1))
MOVE(pread, (int fd, void *to, size_t n, off_t at), (fd, to, n, at),
     ask_range(fd, (uint64_t)at, n, false), IN(fd, at))
MOVE(pread64, (int fd, void *to, size_t n, off64_t at), (fd, to, n, at),
     ask_range(fd, (uint64_t)at, n, false), IN(fd, at))
MOVE(pwrite, (int fd, const void *from, size_t n, off_t at), (fd, from, n, at),
     ask_range(fd, (uint64_t)at, n, true), OUT(fd, at))
MOVE(pwrite64, (int fd, const void *from, size_t n, off64_t at), (fd, from, n, at),
     ask_range(fd, (uint64_t)at, n, true), OUT(fd, at))
/* Whole files, as `cp` and `cat` move them: the part that is asked about is the first GiB. */
#define PART(n) ((n) < (1u << 30) ? (n) : (1u << 30))
/* A caller's position is behind what was moved now; -1: the descriptor's own position is. */
#define BEGAN(at) ((at) ? *(at) - moved : -1)
MOVE(copy_file_range, (int in, off64_t *from, int out, off64_t *to, size_t n, unsigned int flags),
     (in, from, out, to, n, flags),
     ask_at(in, PART(n), false) ?: ask_at(out, PART(n), true),
     IN(in, BEGAN(from)) < 0 ? -1 : OUT(out, BEGAN(to)))
MOVE(sendfile, (int out, int in, off_t *at, size_t n), (out, in, at, n),
     ask_at(in, PART(n), false) ?: ask_at(out, PART(n), true),
     IN(in, BEGAN(at)) < 0 ? -1 : OUT(out, -1))
MOVE(sendfile64, (int out, int in, off64_t *at, size_t n), (out, in, at, n),
     ask_at(in, PART(n), false) ?: ask_at(out, PART(n), true),
     IN(in, BEGAN(at)) < 0 ? -1 : OUT(out, -1))

/* ---- all objects ---- */

#define WHOLE(name, parameters, call, question)                             \
    int name parameters                                                     \
    {                                                                       \
        if (osts_are_watched())                                             \
            REFUSE(question);                                               \
        return NEXT(name) call;                                             \
    }
#define SYNCED(name)                                                        \
    int name(int fd)                                                        \
    {                                                                       \
        if (osts_are_watched())                                             \
            REFUSE(ask_objects(fd, SYNC));                                  \
        REFUSE(all_crossed(fd));                                            \
        return NEXT(name)(fd);                                              \
    }
SYNCED(fsync)
SYNCED(fdatasync)
WHOLE(ftruncate, (int fd, off_t n), (fd, n), ask_objects(fd, PUNCH))
WHOLE(ftruncate64, (int fd, off64_t n), (fd, n), ask_objects(fd, PUNCH))
WHOLE(truncate, (const char *path, off_t n), (path, n), ask_named(AT_FDCWD, path, 0, PUNCH))
WHOLE(truncate64, (const char *path, off64_t n), (path, n), ask_named(AT_FDCWD, path, 0, PUNCH))

/* ---- removing: the MDT destroys the objects later, and needs no OST for it ---- */

#define GONE(name, parameters, call, dir, path)                             \
    int name parameters                                                     \
    {                                                                       \
        int fd = osts_are_watched() ? name_on_lustre(dir, path, O_NOFOLLOW) : -1; \
        int result = NEXT(name) call, saved = errno;                        \
        struct stat info;                                                   \
        if (result == 0 && fd >= 0 && NEXT(fstat)(fd, &info) == 0 && info.st_nlink == 0) \
            ask_objects(fd, DESTROY);                                       \
        if (fd >= 0)                                                        \
            close(fd);                                                      \
        errno = saved;                                                      \
        return result;                                                      \
    }
GONE(unlink, (const char *path), (path), AT_FDCWD, path)
GONE(remove, (const char *path), (path), AT_FDCWD, path)
GONE(unlinkat, (int dir, const char *path, int flags), (dir, path, flags), dir, path)
