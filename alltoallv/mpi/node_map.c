#include "node_map.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE /* of Linux 5.14 */
#define MADV_POPULATE_WRITE 23
#endif

enum { ALIGNMENT = 64, PATIENCE = 10000, PATIENCE_IN_A_CROWD = 4 };

/* Decides how ranks wait for one another. A core of its own is better spent polling; where ranks
 * share cores, one that polls takes the time of the one it waits for. */
static void find_patience(struct vas_node_map *map)
{
#ifdef VAS_A2AV_SIMULATED
    map->patience = -1;
#else
    map->crowded = map->machine_ranks > sysconf(_SC_NPROCESSORS_ONLN);
    map->patience = map->crowded ? PATIENCE_IN_A_CROWD : PATIENCE;
#endif
}

/* Splits off the ranks of a node, in the order of their ranks. Returns 0 or an error of MPI. */
static int split(struct vas_node_map *map, MPI_Comm comm, int rank, int node_ranks)
{
    MPI_Comm machine;
    int place;
    int error =
        PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &machine);
    if (!error)
        error = PMPI_Comm_size(machine, &map->machine_ranks);
    if (!error)
        find_patience(map);
    if (error || node_ranks == 0) {
        map->node = error ? MPI_COMM_NULL : machine;
        return error;
    }
    error = PMPI_Comm_rank(machine, &place);
    if (!error)
        error = PMPI_Comm_split(machine, place / node_ranks, rank, &map->node);
    PMPI_Comm_free(&machine);
    return error;
}

/* Numbers the nodes in the order of their first ranks. At first `node_of` has the first rank of
 * each rank's node. */
static void number(int *node_of, int ranks)
{
    int nodes = 0;
    for (int rank = 0; rank < ranks; rank++) {
        int first = node_of[rank];
        node_of[rank] = first == rank ? nodes++ : node_of[first];
    }
}

/* Tells whether there are several nodes, and one of them has several ranks. */
static bool has_leaders(const int *node_of, int ranks)
{
    int nodes = 0;
    for (int rank = 0; rank < ranks; rank++)
        nodes = node_of[rank] >= nodes ? node_of[rank] + 1 : nodes;
    return nodes > 1 && nodes < ranks;
}

static int find_nodes(struct vas_node_map *map, MPI_Comm comm, int rank, int ranks)
{
    int first = rank;
    int error = PMPI_Bcast(&first, 1, MPI_INT, 0, map->node);
    if (!error)
        error = PMPI_Allgather(&first, 1, MPI_INT, map->node_of, 1, MPI_INT, comm);
    if (!error)
        number(map->node_of, ranks);
    return error;
}

#ifdef VAS_A2AV_SIMULATED
/* SimGrid's MPI has no shared windows, but its ranks are in one process: a rank's part is memory
 * of the heap, which it frees when the others have finished. */
static int share_memory(struct vas_node_map *map)
{
    int members, place;
    int error = PMPI_Comm_size(map->node, &members);
    if (!error)
        error = PMPI_Comm_rank(map->node, &place);
    if (error || members == 1)
        return error;
    map->own = calloc(1, a2av_window_bytes(members) + ALIGNMENT);
    map->parts = calloc((size_t)members, sizeof *map->parts);
    if (!map->own || !map->parts)
        return MPI_ERR_NO_MEM;
    unsigned char *part = map->own + (ALIGNMENT - (uintptr_t)map->own % ALIGNMENT) % ALIGNMENT;
    return PMPI_Allgather(&part, (int)sizeof part, MPI_BYTE, map->parts, (int)sizeof part,
                          MPI_BYTE, map->node);
}

static void free_memory(struct vas_node_map *map)
{
    if (map->own)
        PMPI_Barrier(map->node);
    free(map->own);
    map->own = NULL;
}
#else
static bool is_unified(MPI_Win memory)
{
    int *model, found = 0;
    return PMPI_Win_get_attr(memory, MPI_WIN_MODEL, &model, &found) == MPI_SUCCESS && found &&
           *model == MPI_WIN_UNIFIED;
}

static bool find_parts(struct vas_node_map *map, int members)
{
    bool usable = is_unified(map->memory);
    for (int i = 0; i < members && usable; i++) {
        MPI_Aint size;
        int unit;
        usable = PMPI_Win_shared_query(map->memory, i, &size, &unit, &map->parts[i]) ==
                 MPI_SUCCESS;
        /* Open MPI's memory begins anywhere, but at the same place of a page in each process. */
        map->parts[i] += (ALIGNMENT - (uintptr_t)map->parts[i] % ALIGNMENT) % ALIGNMENT;
    }
    return usable;
}

static void free_memory(struct vas_node_map *map)
{
    if (map->memory != MPI_WIN_NULL) {
        PMPI_Win_unlock_all(map->memory);
        PMPI_Win_free(&map->memory);
    }
}

/* Tells whether /dev/shm, where MPIs put windows, has room for the parts of all ranks of this
 * machine, and as much again for others: a window gets its pages when somebody writes to them, and
 * where none is left SIGBUS ends the writer. Open MPI 4.1 looks too, and hangs where there is no
 * room. */
static bool has_room(const struct vas_node_map *map, int members)
{
    size_t bytes = 2 * (size_t)map->machine_ranks * (a2av_window_bytes(members) + ALIGNMENT);
    struct statvfs memory;
    return statvfs("/dev/shm", &memory) != 0 || memory.f_blocks == 0 ||
           (uint64_t)memory.f_bavail * memory.f_frsize >= bytes;
}

/* Asks the kernel for all pages of a part: unlike a write, this fails where none is left. Linux
 * before 5.14 does not know the question; has_room alone decides there. */
static bool has_pages(unsigned char *part, size_t bytes)
{
    uintptr_t into = (uintptr_t)part % (uintptr_t)sysconf(_SC_PAGESIZE);
    return madvise(part - into, bytes + into, MADV_POPULATE_WRITE) == 0 || errno == EINVAL;
}

/* Tells whether this process may make a window now. Open MPI 5.0.11 spoils its memory where two
 * threads make one each at the same time. */
static bool may_make_windows(void)
{
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5
    int level = MPI_THREAD_SINGLE;
    return PMPI_Query_thread(&level) == MPI_SUCCESS && level < MPI_THREAD_MULTIPLE;
#else
    return true;
#endif
}

/* Makes the window, and clears this rank's part. Returns whether the rank can use it. */
static bool make_window(struct vas_node_map *map, int members, int place)
{
    size_t bytes = a2av_window_bytes(members);
    void *ignored;
    if (PMPI_Win_allocate_shared((MPI_Aint)bytes + ALIGNMENT, 1, MPI_INFO_NULL, map->node,
                                 &ignored, &map->memory)) {
        map->memory = MPI_WIN_NULL;
        return false;
    }
    PMPI_Win_set_errhandler(map->memory, MPI_ERRORS_RETURN);
    if (PMPI_Win_lock_all(MPI_MODE_NOCHECK, map->memory) || !find_parts(map, members) ||
        !has_pages(map->parts[place], bytes))
        return false;
    memset(map->parts[place], 0, bytes);
    return true;
}

/* Makes the memory; the ranks of a node agree before whether all of them have room for it, and
 * afterwards whether all of them can use it. Returns 0 or an error, with which something of it may
 * be there. */
static int share_memory(struct vas_node_map *map)
{
    int members, place, usable, all = 0;
    int error = PMPI_Comm_size(map->node, &members);
    if (!error)
        error = PMPI_Comm_rank(map->node, &place);
    if (error || members == 1)
        return error;
    PMPI_Comm_set_errhandler(map->node, MPI_ERRORS_RETURN);
    map->parts = calloc((size_t)members, sizeof *map->parts);
    usable = map->parts && may_make_windows() && has_room(map, members);
    error = PMPI_Allreduce(&usable, &all, 1, MPI_INT, MPI_MIN, map->node);
    if (!error && all) {
        usable = make_window(map, members, place);
        /* The reduction also keeps each rank from reading before all have cleared their parts. */
        error = PMPI_Allreduce(&usable, &all, 1, MPI_INT, MPI_MIN, map->node);
    }
    return error || all ? error : MPI_ERR_NO_MEM;
}
#endif

struct vas_node_map vas_node_map_closed(void)
{
    return (struct vas_node_map){.node = MPI_COMM_NULL, .memory = MPI_WIN_NULL};
}

int vas_node_map_reserve(struct vas_node_map *map, int ranks)
{
    map->node_of = calloc((size_t)ranks, sizeof *map->node_of);
    return map->node_of ? 0 : A2AV_NO_MEMORY;
}

int vas_node_map_open(struct vas_node_map *map, MPI_Comm comm, int node_ranks)
{
    int rank, ranks, error = PMPI_Comm_rank(comm, &rank);
    if (!error)
        error = PMPI_Comm_size(comm, &ranks);
    if (!error)
        error = split(map, comm, rank, node_ranks);
    return error ? error : find_nodes(map, comm, rank, ranks);
}

bool vas_node_map_share(struct vas_node_map *map, MPI_Comm comm)
{
    int ranks = 0, good, all = 0;
    PMPI_Comm_size(comm, &ranks);
    if (map->shared || !map->node_of || !has_leaders(map->node_of, ranks))
        return true;
    good = !share_memory(map);
    if (PMPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, comm) || !all) {
        free_memory(map);
        free(map->parts);
        map->parts = NULL;
    }
    map->shared = true;
    map->window.parts = map->parts;
    return all;
}

void vas_node_map_close(struct vas_node_map *map, bool ended)
{
    if (!ended) {
        free_memory(map);
        if (map->node != MPI_COMM_NULL)
            PMPI_Comm_free(&map->node);
    }
    free(map->node_of);
    free(map->parts);
    *map = vas_node_map_closed();
}
