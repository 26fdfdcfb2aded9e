/* Tests that a rank that has no memory makes all ranks do the same: in the first call on a
 * communicator, in VAS_Alltoallv_init and in MPI_Alltoallv_init. Run on 4 ranks, with
 * VAS_A2AV_MIN_RANKS=2. Exits with 1 where something is not as it must be.
 *
 * The linker leads the library's malloc, calloc and realloc to functions here (-Wl,--wrap). The
 * n-th allocation of rank 1 fails, for growing n, until one step needs fewer. Prints a line of
 * JSON: how many failed in each step. */
#include <stdio.h>
#include <stdlib.h>

#include "../include/vas_a2av.h"
#include "../mpi/persistent.h"
#include "../mpi/registry.h"

#define CHECK(what) ((what) ? (void)0 : fail(#what, __LINE__))

enum { RANKS = 4, STARTS = 2 };

static int left; /* allocations until one fails, and that one; 0: none does, or one has */
static int rank;

void *__real_malloc(size_t), *__real_calloc(size_t, size_t), *__real_realloc(void *, size_t);

static bool fails(void)
{
    return left > 0 && --left == 0;
}

void *__wrap_malloc(size_t bytes)
{
    return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    return fails() ? NULL : __real_realloc(old, bytes);
}

/* The blocks of a call and their places. */
struct sides {
    int ones[RANKS], at[RANKS], out[RANKS], in[RANKS];
};

static void fail(const char *what, int line)
{
    fprintf(stderr, "no_memory: line %d: not true: %s\n", line, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Begins a step in which rank 1 has no memory after some allocations. */
static void begin(int allocations)
{
    left = rank == 1 ? allocations : 0;
}

/* Ends it; tells whether an allocation has failed. */
static bool end(void)
{
    int failed = left == 0;
    left = 0;
    PMPI_Bcast(&failed, 1, MPI_INT, 1, MPI_COMM_WORLD);
    return failed;
}

static bool is_equal(int value)
{
    int both[] = {value, -value}, most[2];
    PMPI_Allreduce(both, most, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return most[0] == -most[1];
}

/* Returns the blocks of a rank of this number. */
static struct sides prepare(int mine)
{
    struct sides sides;
    for (int i = 0; i < RANKS; i++) {
        sides.ones[i] = 1;
        sides.at[i] = i;
        sides.out[i] = 100 * mine + i;
        sides.in[i] = -1;
    }
    return sides;
}

static void check(const struct sides *sides, int mine, int ranks)
{
    for (int i = 0; i < ranks; i++)
        CHECK(sides->in[i] == 100 * i + mine);
}

static void exchange(MPI_Comm comm)
{
    struct sides s = prepare(rank);
    CHECK(VAS_Alltoallv(s.out, s.ones, s.at, MPI_INT, s.in, s.ones, s.at, MPI_INT, comm) == 0);
    check(&s, rank, RANKS);
}

static MPI_Comm world(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return comm;
}

/* The first call on a communicator, and the memory of its nodes. */
static bool try_communicator(int allocations)
{
    MPI_Comm comm = world();
    begin(allocations);
    struct vas_communicator *own = vas_registry_find(comm);
    CHECK(is_equal(own != NULL));
    bool serves = own && !own->passes;
    CHECK(is_equal(serves));
    if (serves)
        vas_node_map_share(&own->nodes, own->transport.comm);
    bool failed = end();
    CHECK(failed || serves);
    if (serves)
        CHECK(is_equal(own->nodes.parts != NULL) && is_equal(own->chooser.layout.nodes) &&
              is_equal(own->chooser.layout.fewest));
    exchange(comm);
    exchange(comm);
    /* Where nobody kept anything, the next call has tried again. */
    CHECK(own || !vas_registry_find(comm)->passes);
    MPI_Comm_free(&comm);
    return failed;
}

/* Makes a plan of a communicator, in which this rank has a number, and starts it if it is made. */
static bool try_plan(int allocations, MPI_Comm comm, int mine, int ranks)
{
    struct sides s = prepare(mine);
    VAS_Plan plan;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    vas_registry_find(comm);
    begin(allocations);
    int error = VAS_Alltoallv_init(s.out, s.ones, s.at, MPI_INT, s.in, s.ones, s.at, MPI_INT,
                                   comm, MPI_INFO_NULL, &plan);
    bool failed = end();
    CHECK(is_equal(error != 0) && (error == 0) == (plan != NULL) && (failed || !error));
    for (int start = 0; start < STARTS && !error; start++) {
        CHECK(VAS_Alltoallv_start(plan) == 0);
        check(&s, mine, ranks);
    }
    CHECK(error || VAS_Alltoallv_free(&plan) == 0);
    return failed;
}

static bool try_plan_of_world(int allocations)
{
    MPI_Comm comm = world();
    bool failed = try_plan(allocations, comm, rank, RANKS);
    MPI_Comm_free(&comm);
    return failed;
}

/* A plan of MPI's own function: between the even ranks and the odd ones. */
static bool try_plan_between_groups(int allocations)
{
    MPI_Comm half, inter;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &inter);
    bool failed = try_plan(allocations, inter, rank / 2, RANKS / 2);
    MPI_Comm_free(&inter), MPI_Comm_free(&half);
    return failed;
}

static bool try_request(int allocations)
{
#ifdef VAS_A2AV_HAS_PERSISTENT
    struct sides s = prepare(rank);
    MPI_Comm comm = world();
    MPI_Request request;
    bool chooses = vas_registry_find(comm)->settings.chooses;
    begin(allocations);
    CHECK(MPI_Alltoallv_init(s.out, s.ones, s.at, MPI_INT, s.in, s.ones, s.at, MPI_INT, comm,
                             MPI_INFO_NULL, &request) == 0);
    bool failed = end();
    CHECK(is_equal(vas_persistent_requests()));
    CHECK(failed || chooses || vas_persistent_requests() == 1);
    for (int start = 0; start < STARTS; start++) {
        CHECK(MPI_Start(&request) == 0 && MPI_Wait(&request, MPI_STATUS_IGNORE) == 0);
        check(&s, rank, RANKS);
    }
    MPI_Request_free(&request);
    MPI_Comm_free(&comm);
    return failed;
#else
    (void)allocations;
    return false;
#endif
}

/* Returns how many allocations of a step were made to fail. */
static int count(bool try(int allocations))
{
    int failed = 0;
    while (try(failed + 1))
        failed++;
    return failed;
}

int main(int argc, char **argv)
{
    int ranks, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK(ranks == RANKS);
    int communicators = count(try_communicator), plans = count(try_plan_of_world);
    int between = count(try_plan_between_groups), requests = count(try_request);
    if (rank == 0)
        printf("{\"communicators\": %d, \"plans\": %d, \"plans_of_mpi\": %d, \"requests\": %d}\n",
               communicators, plans, between, requests);
    MPI_Finalize();
    return 0;
}
