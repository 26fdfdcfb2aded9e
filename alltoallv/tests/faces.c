/* Tests what MPI allows around the call: other communicators, threads, errors. Runs on 4 ranks or
 * more, with VAS_A2AV_MIN_RANKS=2. Exits with 1 where something is not as it must be. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../include/vas_a2av.h"
#include "../mpi/registry.h"
#include "check.h"

/* Lets each rank send rank + 1 ints to each; returns the error. */
static int exchange(MPI_Comm comm, int ranks)
{
    int rank, wrong = 0;
    int *memory = calloc((size_t)ranks * (size_t)(2 * ranks + 4), sizeof *memory);
    int *out_counts = memory, *in_counts = out_counts + ranks, *out_at = in_counts + ranks;
    int *in_at = out_at + ranks, *out = in_at + ranks, *in = out + ranks * ranks;
    MPI_Comm_rank(comm, &rank);
    for (int i = 0, sum = 0; i < ranks; sum += i + 1, i++) {
        out_counts[i] = rank + 1;
        in_counts[i] = i + 1;
        out_at[i] = i * (rank + 1);
        in_at[i] = sum;
    }
    for (int i = 0; i < ranks * (rank + 1); i++)
        out[i] = rank;
    int error = MPI_Alltoallv(out, out_counts, out_at, MPI_INT, in, in_counts, in_at, MPI_INT, comm);
    for (int i = 0; i < ranks && !error; i++)
        for (int j = 0; j < in_counts[i]; j++)
            wrong += in[in_at[i] + j] != i;
    free(memory);
    CHECK(wrong == 0);
    return error;
}

static int copies;

static int count_copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra, (void)in, (void)out;
    copies++;
    *flag = 0;
    return MPI_SUCCESS;
}

/* The caller's attributes are not copied to the communicator behind its own. */
static void check_attributes(int ranks)
{
    MPI_Comm comm, other;
    int keyval;
    MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &comm);
    MPI_Comm_create_keyval(count_copy, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    MPI_Comm_set_attr(comm, keyval, &keyval);
    CHECK(exchange(comm, ranks) == 0 && copies == 0);
    struct vas_communicator *own = vas_registry_find(comm);
    CHECK(own->passes == NULL && own->totals.used == 1 && own->totals.tallies[0].calls == 1);
    /* A duplicate has a state of its own, and both can be freed in any order. */
    MPI_Comm_dup(comm, &other);
    CHECK(copies == 1 && exchange(other, ranks) == 0);
    CHECK(vas_registry_find(other) != vas_registry_find(comm));
    MPI_Comm_free_keyval(&keyval);
    MPI_Comm_free(&comm);
    CHECK(exchange(other, ranks) == 0);
    MPI_Comm_free(&other);
}

static void check_many_communicators(int ranks)
{
    for (int i = 0; i < 20; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        CHECK(exchange(comm, ranks) == 0);
        MPI_Comm_free(&comm);
    }
}

static void *many_calls(void *argument)
{
    MPI_Comm comm = *(MPI_Comm *)argument;
    int ranks;
    MPI_Comm_size(comm, &ranks);
    for (int i = 0; i < 5; i++)
        CHECK(exchange(comm, ranks) == 0);
    return NULL;
}

static void check_threads(void)
{
    enum { THREADS = 2 };
    pthread_t threads[THREADS];
    MPI_Comm comms[THREADS];
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, many_calls, &comms[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        MPI_Comm_free(&comms[i]);
    }
}

/* Makes a plan of so many ranks, which gets as many elements of each as it sends; with `wide` by
 * the form with large counts, where the MPI has those. */
static VAS_Plan plan_of(MPI_Comm comm, int ranks, bool wide, MPI_Datatype type, const int *counts,
                        const int *at, const int *out, int *in)
{
    VAS_Plan plan;
    int error = MPI_SUCCESS;
#if MPI_VERSION >= 4
    MPI_Count *large = calloc((size_t)ranks, sizeof *large);
    MPI_Aint *far = calloc((size_t)ranks, sizeof *far);
    for (int i = 0; i < ranks; i++) {
        large[i] = counts[i];
        far[i] = at[i];
    }
    if (wide)
        error = VAS_Alltoallv_init_c(out, large, far, type, in, large, far, type, comm,
                                     MPI_INFO_NULL, &plan);
    free(large), free(far);
#else
    (void)ranks;
    wide = false;
#endif
    if (!wide)
        error = VAS_Alltoallv_init(out, counts, at, type, in, counts, at, type, comm,
                                   MPI_INFO_NULL, &plan);
    CHECK(error == MPI_SUCCESS);
    return plan;
}

/* A plan outlives its types, arrays and communicator; each start sends what the buffer has. So it
 * does where MPI's own function is called. */
static void check_plans(MPI_Comm of, int ranks, bool served, bool wide)
{
    int rank, *memory = calloc(6 * (size_t)ranks, sizeof *memory);
    int *counts = memory, *at = memory + ranks, *out = memory + 2 * ranks, *in = out + 2 * ranks;
    MPI_Datatype pair;
    MPI_Comm comm;
    MPI_Comm_dup(of, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    for (int i = 0; i < ranks; i++) {
        counts[i] = 1;
        at[i] = i;
    }
    VAS_Plan plan = plan_of(comm, ranks, wide, pair, counts, at, out, in);
    struct vas_communicator *own = vas_registry_find(comm);
    CHECK(own->plans == 1 && (own->passes == NULL) == served);
    memset(memory, 0xFF, 2 * (size_t)ranks * sizeof *memory);
    MPI_Type_free(&pair);
    CHECK(exchange(comm, ranks) == 0); /* between its starts, with a state of its own */
    for (int start = 0; start < 10; start++) { /* more than a trial has */
        for (int i = 0; i < 2 * ranks; i++)
            out[i] = start * 10000 + rank * 100 + i;
        CHECK(VAS_Alltoallv_start(plan) == 0);
        for (int i = 0; i < 2 * ranks; i++)
            CHECK(in[i] == start * 10000 + i / 2 * 100 + 2 * rank + i % 2);
        if (start == 1)
            MPI_Comm_free(&comm);
    }
    /* The plan keeps the state, which counts its starts and the call between. */
    CHECK(vas_totals_calls(&own->totals) == 11);
    CHECK(VAS_Alltoallv_free(&plan) == 0 && plan == NULL);
    free(memory);
}

/* MPI_Alltoall by MPI's own function and by the library: equal bytes, in place and not. */
static void check_equal_blocks(int ranks)
{
    enum { MOST = 9 };
    size_t bytes = (size_t)ranks * MOST * 2 * sizeof(int);
    int rank, *out = malloc(bytes), *in = malloc(bytes), *expected = malloc(bytes);
    MPI_Datatype spread;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &spread);
    MPI_Type_commit(&spread);
    for (int count = 0; count <= MOST; count += 3)
        for (int in_place = 0; in_place < 2; in_place++) {
            for (size_t i = 0; i < bytes / sizeof(int); i++)
                out[i] = in[i] = expected[i] = rank * 1000 + (int)i;
            const void *from = in_place ? MPI_IN_PLACE : out;
            CHECK(PMPI_Alltoall(from, count, MPI_INT, expected, count, spread, comm) == 0);
            CHECK(MPI_Alltoall(from, count, MPI_INT, in, count, spread, comm) == 0);
            CHECK(memcmp(in, expected, bytes) == 0);
        }
    struct vas_communicator *own = vas_registry_find(comm);
    CHECK(vas_totals_calls(&own->totals) == 8);
    CHECK(own->settings.chooses || own->totals.passed[VAS_PASSED_EQUAL] == 0);
    MPI_Type_free(&spread);
    MPI_Comm_free(&comm);
    free(out), free(in), free(expected);
}

static int handled;

static void on_error(MPI_Comm *comm, int *error, ...)
{
    (void)comm, (void)error;
    handled++;
}

/* A wrong program: every rank expects fewer bytes than come. The caller's handler is called. */
static void check_error_handler(int ranks)
{
    MPI_Comm comm;
    MPI_Errhandler handler;
    int *memory = calloc(7 * (size_t)ranks, sizeof *memory);
    int *twos = memory + ranks, *at = memory + 2 * ranks, *in = memory + 3 * ranks;
    int *out = in + 2 * ranks;
    for (int i = 0; i < ranks; i++) {
        memory[i] = 1;
        twos[i] = 2;
        at[i] = i;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    int error = MPI_Alltoallv(out, twos, at, MPI_INT, in, memory, at, MPI_INT, comm), class;
    MPI_Error_class(error, &class);
    CHECK(class == MPI_ERR_TRUNCATE && handled == 1);
    /* Later calls fail at once, and touch nothing that is under way. */
    CHECK(MPI_Alltoallv(out, twos, at, MPI_INT, in, twos, at, MPI_INT, comm) != 0 && handled == 2);
    MPI_Errhandler_free(&handler);
    /* What is under way stays, and so do its buffers; the communicator can be freed. */
    MPI_Comm_free(&comm);
    CHECK(exchange(MPI_COMM_WORLD, ranks) == 0);
}

/* Rank 1 alone is wrong, about the block that it sends itself: it has an error, after which all
 * ranks free the communicator. */
static void check_error_on_one_rank(int rank, int ranks)
{
    MPI_Comm comm;
    int *ones = calloc(5 * (size_t)ranks, sizeof *ones), *counts = ones + ranks;
    int *at = counts + ranks, *out = at + ranks, *in = out + ranks;
    for (int i = 0; i < ranks; i++) {
        ones[i] = counts[i] = 1;
        at[i] = i;
        out[i] = rank;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CHECK(exchange(comm, ranks) == 0);
    counts[1] = rank == 1 ? 0 : 1;
    int error = MPI_Alltoallv(out, ones, at, MPI_INT, in, counts, at, MPI_INT, comm);
    CHECK((error != 0) == (rank == 1));
    CHECK(vas_registry_find(comm)->broken == (rank == 1));
    MPI_Comm_free(&comm);
    free(ones);
    CHECK(exchange(MPI_COMM_WORLD, ranks) == 0);
}

static void check_refused(int ranks)
{
    int *counts = calloc((size_t)ranks, sizeof *counts), rank;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    CHECK(exchange(comm, ranks) == 0);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    counts[0] = -1;
    CHECK(MPI_Alltoallv(NULL, counts, counts, MPI_INT, NULL, counts, counts, MPI_INT, comm) != 0);
    const struct vas_totals *totals = &vas_registry_find(comm)->totals;
    CHECK(totals->tallies[0].calls == 1 && vas_totals_calls(totals) == 2);
    free(counts);
    MPI_Comm_free(&comm);
}

static unsigned long long by_core(MPI_Comm comm)
{
    const struct vas_totals *totals = &vas_registry_find(comm)->totals;
    unsigned long long calls = 0;
    for (int i = 0; i < totals->used; i++)
        calls += totals->tallies[i].calls;
    return calls;
}

/* Buffers that the core cannot serve are for MPI's own function to refuse, or to take. */
static void check_wrong_buffers(int ranks)
{
    MPI_Comm comm;
    int *ones = calloc(3 * (size_t)ranks, sizeof *ones), *at = ones + ranks, *out = at + ranks;
    for (int i = 0; i < ranks; i++) {
        ones[i] = 1;
        at[i] = i;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK(exchange(comm, ranks) == 0 && by_core(comm) == 1);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CHECK(MPI_Alltoallv(out, ones, at, MPI_INT, MPI_IN_PLACE, ones, at, MPI_INT, comm) != 0);
    /* MPICH refuses these, Open MPI does not. */
    MPI_Alltoallv(out, ones, at, MPI_INT, out, ones, at, MPI_INT, comm);
    MPI_Alltoall(out, 1, MPI_INT, out, 1, MPI_INT, comm);
#ifndef OPEN_MPI /* which reads and writes at NULL, and calls the handler of MPI_COMM_WORLD */
    CHECK(MPI_Alltoall(out, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm) != 0);
    CHECK(MPI_Alltoallv(NULL, ones, at, MPI_INT, out, ones, at, MPI_INT, comm) != 0);
    CHECK(MPI_Alltoallv(out, ones, at, MPI_INT, NULL, ones, at, MPI_INT, comm) != 0);
    CHECK(MPI_Alltoall(NULL, 1, MPI_INT, out, 1, MPI_INT, comm) != 0);
    CHECK(MPI_Alltoall(out, 1, MPI_INT, NULL, 1, MPI_INT, comm) != 0);
#endif
    CHECK(by_core(comm) == 1 && vas_registry_find(comm)->broken == false);
    free(ones);
    MPI_Comm_free(&comm);
}

/* Both sides may lie in one buffer, the blocks of one behind those of the other. */
static void check_halves_of_a_buffer(int rank, int ranks)
{
    MPI_Comm comm;
    int *ones = calloc(5 * (size_t)ranks, sizeof *ones), *first = ones + ranks;
    int *second = first + ranks, *both = second + ranks;
    for (int i = 0; i < ranks; i++) {
        ones[i] = 1;
        first[i] = i;
        second[i] = ranks + i;
        both[i] = 100 * rank + i;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK(MPI_Alltoallv(both, ones, first, MPI_INT, both, ones, second, MPI_INT, comm) == 0);
    CHECK(by_core(comm) == 1);
    for (int i = 0; i < ranks; i++)
        CHECK(both[i] == 100 * rank + i && both[ranks + i] == 100 * i + rank);
    free(ones);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    int rank, ranks, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK(ranks >= 4 && exchange(MPI_COMM_WORLD, ranks) == 0);
    check_attributes(ranks);
    check_many_communicators(ranks);
    check_refused(ranks);
    check_wrong_buffers(ranks);
    check_halves_of_a_buffer(rank, ranks);
    check_equal_blocks(ranks);
    check_plans(MPI_COMM_WORLD, ranks, true, false);
    check_plans(MPI_COMM_WORLD, ranks, true, true);
    check_plans(MPI_COMM_SELF, 1, false, true);
    check_plans(MPI_COMM_SELF, 1, false, false); /* fewer ranks than VAS_A2AV_MIN_RANKS */
    if (provided == MPI_THREAD_MULTIPLE)
        check_threads();
    /* MPI's own function may do such calls otherwise, with an answer of its own. */
    if (strcmp(getenv("VAS_A2AV"), "auto") != 0) {
        check_error_on_one_rank(rank, ranks);
        check_error_handler(ranks);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("faces: every check holds, %s threads\n",
               provided == MPI_THREAD_MULTIPLE ? "with" : "without");
    MPI_Finalize();
    return 0;
}
