/* Tells a file's objects, which OSTs are away, and how many requests the OSTs would have got. */
#include "lab.h"

#include <pthread.h>
#include <sys/mman.h>

#define COUNTED_OSTS 256

/* vas_lab/mds/board.py writes this: pages that all processes of the lab share. */
struct board {
    uint32_t watched;  /* anything to do at all: an OST is away, or requests are counted */
    uint32_t counting;
    uint64_t requests[REQUEST_KINDS];
    uint8_t away[4056]; /* by index: 0, or the errno of whatever needs that OST */
    uint64_t by_ost[ALL_KINDS][COUNTED_OSTS];
    uint64_t opens; /* of the MDT */
    uint64_t locks; /* that programs got, of the MDT */
    uint32_t linked;      /* bytes cross links (links.c) */
    uint32_t links_epoch; /* changes when ranges that a thread knows may be wrong */
};
_Static_assert(sizeof(struct board) == 16408, "as board.py has it");

static struct board *board;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void map_board(void)
{
    const char *mds = getenv("VAS_LAB_MDS"), *end = mds ? strrchr(mds, '/') : NULL;
    char path[PATH_MAX];
    void *page;
    int fd;

    /* lfs and lctl, which are Python here, ask the MDT alone. */
    if (getenv("VAS_LAB_MDT_ONLY") || !end)
        return;
    if (snprintf(path, sizeof(path), "%.*s/board", (int)(end - mds), mds) >= PATH_MAX)
        return;
    fd = NEXT(open)(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    page = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page != MAP_FAILED)
        board = page;
    close(fd);
}

bool osts_are_watched(void)
{
    pthread_once(&once, map_board);
    return board && __atomic_load_n(&board->watched, __ATOMIC_RELAXED);
}

bool bytes_cross_links(uint32_t *epoch)
{
    pthread_once(&once, map_board);
    if (!board || !__atomic_load_n(&board->linked, __ATOMIC_RELAXED))
        return false;
    *epoch = __atomic_load_n(&board->links_epoch, __ATOMIC_ACQUIRE);
    return true;
}

static int error_of(uint32_t ost)
{
    return ost < sizeof(board->away) ? board->away[ost] : 0;
}

#define NOT_COUNTED (-1)

struct visit {
    int kind;      /* of the request to count at each OST, or NOT_COUNTED */
    int error;     /* of the first object whose OST is away */
    int objects;
    bool outgrown; /* a part of the range has no objects yet */
};

/* The objects of one plain layout, which ends at `limit`, that hold bytes of [start, end). */
static void visit_plain(struct visit *found, const uint8_t *value, const uint8_t *limit,
                        uint64_t start, uint64_t end)
{
    uint32_t magic = get32(value), count = get16(value + 28);
    const uint8_t *objects = value + (magic == MAGIC_POOL ? 48 : 32);
    uint64_t size = get32(value + 24), first, number;

    if ((magic != MAGIC_PLAIN && magic != MAGIC_POOL) || get32(value + 4) & PATTERN_MDT ||
        count == 0 || size == 0 || start >= end || objects + 24 * count > limit)
        return;
    first = start / size;
    number = (end - 1) / size - first + 1;
    for (uint64_t i = 0; i < number && i < count; i++) {
        uint32_t ost = get32(objects + 24 * ((first + i) % count) + 20);
        int error = error_of(ost);
        found->objects++;
        if (found->kind != NOT_COUNTED && ost < COUNTED_OSTS)
            __atomic_fetch_add(&board->by_ost[found->kind][ost], 1, __ATOMIC_RELAXED);
        if (!found->error)
            found->error = error;
    }
}

static void visit_composite(struct visit *found, const uint8_t *value, const uint8_t *limit,
                            uint64_t start, uint64_t end)
{
    for (const uint8_t *entry = value + 32; entry < value + 32 + 48 * get16(value + 14); entry += 48) {
        uint64_t from = get64(entry + 8), to = get64(entry + 16);
        if (from < start)
            from = start;
        if (to > end)
            to = end;
        if (from >= to || get32(entry + 4) & COMPONENT_STALE || value + get32(entry + 24) + 32 > limit)
            continue;
        if (get32(entry + 4) & COMPONENT_INIT)
            visit_plain(found, value + get32(entry + 24), limit, from, to);
        else
            found->outgrown = true;
    }
}

static struct visit visit(int fd, uint64_t start, uint64_t end, int kind)
{
    struct visit found = {.kind = kind};
    uint8_t value[XATTR_SIZE_MAX];
    char name[NAME_OF_FD];
    ssize_t size = NEXT(getxattr)(link_of(fd, name), STORED, value, sizeof(value));

    if (size >= 32 && is_composite(value, size))
        visit_composite(&found, value, value + size, start, end);
    else if (size >= 32)
        visit_plain(&found, value, value + size, start, end);
    return found;
}

static bool is_file_with_objects(int fd)
{
    struct stat info;
    int saved = errno;
    bool is = on_lustre(fd) && NEXT(fstat)(fd, &info) == 0 && S_ISREG(info.st_mode);

    errno = saved;
    return is;
}

int ask_objects(int fd, enum request kind)
{
    int saved = errno;
    struct visit found;

    if (!is_file_with_objects(fd))
        return 0;
    found = visit(fd, 0, UINT64_MAX, board->counting ? (int)kind : NOT_COUNTED);
    if (board->counting)
        __atomic_fetch_add(&board->requests[kind], (uint64_t)found.objects, __ATOMIC_RELAXED);
    errno = saved;
    return kind == DESTROY ? 0 : found.error;
}

void count_open(int fd)
{
    if (board->counting && is_file_with_objects(fd))
        __atomic_fetch_add(&board->opens, 1, __ATOMIC_RELAXED);
}

void count_lock(int fd)
{
    int saved = errno;

    if (osts_are_watched() && board->counting && on_lustre(fd))
        __atomic_fetch_add(&board->locks, 1, __ATOMIC_RELAXED);
    errno = saved;
}

int ask_range(int fd, uint64_t start, size_t length, bool writing)
{
    int saved = errno;
    uint64_t end = start + (length ? length : 1);
    struct visit found;
    uint8_t wanted[8];

    if (!is_file_with_objects(fd))
        return 0;
    found = visit(fd, start, end, NOT_COUNTED);
    if (writing && found.outgrown) {
        for (int i = 0; i < 8; i++)
            wanted[i] = (uint8_t)(end >> 8 * i);
        found.error = ask(fd, "refresh", wanted, sizeof(wanted));
        if (!found.error)
            found = visit(fd, start, end, NOT_COUNTED);
    }
    if (board->counting && !found.error)
        visit(fd, start, end, writing ? WRITE : READ);
    errno = saved;
    return found.error;
}
