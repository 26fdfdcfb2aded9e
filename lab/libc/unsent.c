/*
 * Gathers small writes: a Lustre client keeps them in its cache and sends them as one request. The
 * links of the node hear of bytes that follow one another when there are 1 MiB of them, when other
 * bytes of the file are written, at an fsync, before the process reads the file, when the
 * descriptor is closed or taken for another file, and at the program's end. A program that is
 * killed leaves less than 1 MiB of each file unheard of.
 */
#include "lab.h"

#include <pthread.h>

#define PART_BYTES (1u << 20)
#define SLOTS 64

static struct unsent {
    bool used;
    int fd;
    dev_t device;
    ino_t inode;
    uint64_t start, end;
} slots[SLOTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void begin_fork(void) { pthread_mutex_lock(&lock); }
static void end_fork(void) { pthread_mutex_unlock(&lock); }

/* The parent tells what it has written. */
static void in_child(void)
{
    memset(slots, 0, sizeof(slots));
    pthread_mutex_unlock(&lock);
}

static void prepare(void) { pthread_atfork(begin_fork, end_fork, in_child); }

static struct unsent *slot_of(int fd) { return &slots[(unsigned int)fd % SLOTS]; }

/* Empties a slot, whose bytes the caller then tells. The lock is held. */
static struct unsent taken(struct unsent *slot)
{
    struct unsent found = *slot;

    slot->used = false;
    return found;
}

static int tell(const struct unsent *it)
{
    struct stat info;

    if (!it->used || NEXT(fstat)(it->fd, &info) < 0 || info.st_dev != it->device ||
        info.st_ino != it->inode)
        return 0;
    return tell_links(it->fd, it->start, it->end - it->start);
}

int written(int fd, const struct stat *info, uint64_t start, size_t length)
{
    struct unsent *slot = slot_of(fd), before = {0}, now = {0};
    int error;

    pthread_once(&once, prepare);
    pthread_mutex_lock(&lock);
    if (slot->fd != fd || slot->device != info->st_dev || slot->inode != info->st_ino ||
        slot->end != start)
        before = taken(slot);
    if (!slot->used)
        *slot = (struct unsent){true, fd, info->st_dev, info->st_ino, start, start};
    slot->end += length;
    if (slot->end - slot->start >= PART_BYTES)
        now = taken(slot);
    pthread_mutex_unlock(&lock);
    error = tell(&before);
    return error ?: tell(&now);
}

int tell_written(int fd)
{
    struct unsent *slot = slot_of(fd), found = {0};

    if (!slot->used || slot->fd != fd)
        return 0;
    pthread_mutex_lock(&lock);
    if (slot->used && slot->fd == fd)
        found = taken(slot);
    pthread_mutex_unlock(&lock);
    return tell(&found);
}

int tell_written_to(const struct stat *info)
{
    int error = 0;

    for (struct unsent *slot = slots; slot < slots + SLOTS && !error; slot++)
        if (slot->used && slot->device == info->st_dev && slot->inode == info->st_ino)
            error = tell_written(slot->fd);
    return error;
}

__attribute__((destructor)) static void tell_all(void)
{
    for (struct unsent *slot = slots; slot < slots + SLOTS; slot++)
        if (slot->used)
            tell_written(slot->fd);
}

/* ---- a descriptor that stops being this file's ---- */

#define LEAVES(name, parameters, call, fd)                                  \
    int name parameters                                                     \
    {                                                                       \
        int saved = errno, error = tell_written(fd), result;                \
                                                                            \
        errno = saved;                                                      \
        result = NEXT(name) call;                                           \
        if (error && result >= 0) {                                         \
            errno = error;                                                  \
            return -1;                                                      \
        }                                                                   \
        return result;                                                      \
    }
LEAVES(close, (int fd), (fd), fd)
LEAVES(dup2, (int from, int to), (from, to), to)
LEAVES(dup3, (int from, int to, int flags), (from, to, flags), to)
