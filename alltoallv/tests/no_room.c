/* Tests what becomes of the memory that the ranks of a node share where /dev/shm has no room for
 * it. Run on 4 ranks with a /dev/shm that is small and this program's alone, and
 * VAS_A2AV=sloav2x VAS_A2AV_NODE_RANKS=2 VAS_A2AV_MIN_RANKS=2.
 *
 *   no_room LEFT statvfs|madvise
 *
 * Fills /dev/shm up to LEFT KiB. The library has two ways to notice: the other one than the named
 * is taken from it, as on Linux before 5.14, or where MPI has its windows elsewhere. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "../include/vas_a2av.h"

enum { RANKS = 4, SMALL = 256 << 20, POPULATE_WRITE = 23 };

static bool by_statvfs;

int __real_statvfs(const char *, struct statvfs *);
int __wrap_statvfs(const char *path, struct statvfs *found)
{
    return by_statvfs ? __real_statvfs(path, found) : -1;
}

int __real_madvise(void *, size_t, int);
int __wrap_madvise(void *at, size_t bytes, int advice)
{
    if (!by_statvfs || advice != POPULATE_WRITE)
        return __real_madvise(at, bytes, advice);
    errno = EINVAL;
    return -1;
}

static void stop(const char *why)
{
    fprintf(stderr, "no_room: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static unsigned long long room(void)
{
    struct statvfs found;
    if (__real_statvfs("/dev/shm", &found) || found.f_blocks * found.f_frsize > SMALL)
        stop("/dev/shm is not small");
    return found.f_bavail * found.f_frsize;
}

static void fill(unsigned long long left)
{
    enum { PIECE = 4096 };
    static const char zeros[PIECE];
    int file = open("/dev/shm/fill", O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (file < 0)
        stop("/dev/shm takes no file");
    while (room() > left)
        if (write(file, zeros, PIECE) != PIECE)
            stop("/dev/shm cannot be filled");
    close(file);
}

/* Returns how many ints of an exchange by this function are wrong. */
static int exchange(int rank, int function(const void *, const int[], const int[], MPI_Datatype,
                                           void *, const int[], const int[], MPI_Datatype,
                                           MPI_Comm))
{
    int wrong = 0, ones[RANKS], at[RANKS], out[RANKS], in[RANKS] = {0};
    for (int i = 0; i < RANKS; i++) {
        ones[i] = 1;
        at[i] = i;
        out[i] = rank * 100 + i;
    }
    if (function(out, ones, at, MPI_INT, in, ones, at, MPI_INT, MPI_COMM_WORLD))
        stop("an exchange failed");
    for (int i = 0; i < RANKS; i++)
        wrong += in[i] != i * 100 + rank;
    return wrong;
}

int main(int argc, char **argv)
{
    int rank, ranks, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 3 || ranks != RANKS)
        stop("wrong arguments");
    by_statvfs = strcmp(argv[2], "statvfs") == 0;
    /* MPI takes what it needs for messages before. */
    for (int i = 0; i < 100; i++)
        wrong += exchange(rank, PMPI_Alltoallv);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        fill(strtoull(argv[1], NULL, 10) << 10);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 10; i++)
        wrong += exchange(rank, VAS_Alltoallv);
    MPI_Finalize();
    return wrong > 0;
}
