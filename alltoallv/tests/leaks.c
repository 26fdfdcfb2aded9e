/* Tests whether 100,000 calls, and 1,000 plans, on 1,000 communicators leave memory behind.
 *
 *   leaks [CALLS]
 *
 * The linker leads the library's malloc and free to functions here (-Wl,--wrap), which count what
 * is not freed. Prints a line of JSON: the most that any rank has of such blocks of memory, and of
 * bytes of the whole process that the last nine tenths of the calls have added: by the library, and
 * for comparison by MPI's own function. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "../include/vas_a2av.h"

enum { CALLS = 100000, COMMUNICATORS = 1000, MOST = 40 };

struct sides {
    int rank, ranks, *counts[2], *at;
    char *out, *in;
    MPI_Datatype type;
};

static long long blocks; /* blocks of the library that are not freed; the program has one thread */

void *__real_malloc(size_t), *__real_calloc(size_t, size_t), *__real_realloc(void *, size_t);
void __real_free(void *);

void *__wrap_malloc(size_t bytes)
{
    void *made = __real_malloc(bytes);
    blocks += made != NULL;
    return made;
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    void *made = __real_calloc(count, bytes);
    blocks += made != NULL;
    return made;
}

void *__wrap_realloc(void *old, size_t bytes)
{
    void *made = __real_realloc(old, bytes);
    blocks += !old && made;
    return made;
}

void __wrap_free(void *old)
{
    blocks -= old != NULL;
    __real_free(old);
}

typedef int alltoallv(const void *, const int[], const int[], MPI_Datatype, void *, const int[],
                      const int[], MPI_Datatype, MPI_Comm);

/* Makes buffers, and elements with a gap, so that blocks are packed; some are empty, others go
 * direct. */
static void prepare(struct sides *sides)
{
    size_t n = (size_t)sides->ranks;
    sides->counts[0] = calloc(3 * n, sizeof(int));
    sides->counts[1] = sides->counts[0] + n;
    sides->at = sides->counts[1] + n;
    sides->out = calloc(n * MOST, 2 * sizeof(int));
    sides->in = calloc(n * MOST, 2 * sizeof(int));
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &sides->type);
    MPI_Type_commit(&sides->type);
}

static void call(struct sides *sides, int number, alltoallv *function, MPI_Comm comm)
{
    for (int i = 0; i < sides->ranks; i++) {
        sides->counts[0][i] = (number + 3 * sides->rank + 5 * i) % (number % 7 ? 6 : MOST);
        sides->counts[1][i] = (number + 3 * i + 5 * sides->rank) % (number % 7 ? 6 : MOST);
        sides->at[i] = i * MOST;
    }
    int error = function(sides->out, sides->counts[0], sides->at, sides->type, sides->in,
                         sides->counts[1], sides->at, sides->type, comm);
    if (error)
        MPI_Abort(comm, 1);
}

/* Makes and frees a plan of a plain type: MPICH 4.0.2 itself keeps 64 bytes of each
 * MPI_Type_dup of another. */
static void use_plan(const struct sides *sides, MPI_Comm comm)
{
    VAS_Plan plan;
    int error = VAS_Alltoallv_init(sides->out, sides->counts[0], sides->at, MPI_INT, sides->in,
                                   sides->counts[1], sides->at, MPI_INT, comm, MPI_INFO_NULL,
                                   &plan);
    for (int start = 0; start < 3 && !error; start++)
        error = VAS_Alltoallv_start(plan);
    if (error || VAS_Alltoallv_free(&plan))
        MPI_Abort(comm, 1);
}

static long long in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return (long long)(info.uordblks + info.hblkhd);
}

static long long growth(struct sides *sides, int calls, alltoallv *function)
{
    long long before = 0;
    for (int number = 0; number < COMMUNICATORS; number++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int i = 0; i < calls / COMMUNICATORS; i++)
            call(sides, number + i, function, comm);
        if (function == VAS_Alltoallv)
            use_plan(sides, comm);
        MPI_Comm_free(&comm);
        if (number == COMMUNICATORS / 10)
            before = in_use();
    }
    return in_use() - before;
}

int main(int argc, char **argv)
{
    struct sides sides = {0};
    int calls = argc > 1 ? atoi(argv[1]) : CALLS;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &sides.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &sides.ranks);
    prepare(&sides);
    long long held = blocks, most[3], mine[3];
    mine[0] = growth(&sides, calls, PMPI_Alltoallv);
    mine[1] = growth(&sides, calls, VAS_Alltoallv);
    mine[2] = blocks - held;
    MPI_Reduce(mine, most, 3, MPI_LONG_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    if (sides.rank == 0)
        printf("{\"calls\": %d, \"blocks\": %lld, \"bytes\": %lld, \"bytes_of_mpi\": %lld}\n",
               calls / COMMUNICATORS * COMMUNICATORS, most[2], most[1], most[0]);
    MPI_Type_free(&sides.type);
    free(sides.counts[0]), free(sides.out), free(sides.in);
    MPI_Finalize();
    return 0;
}
