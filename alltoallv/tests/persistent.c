/* Tests MPI_Alltoallv_init as two libraries of one program use it, and what MPI promises of its
 * requests. Run on 4 ranks or more, with VAS_A2AV_MIN_RANKS=2.
 *
 *   persistent SERVED [THREADS]
 *
 * SERVED: 1 where the requests must be the library's, 0 where they must be MPI's own. THREADS: 0
 * for MPI_Init. Exits with 1 where something is not as it must be. */
#include "../mpi/persistent.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef VAS_A2AV_HAS_PERSISTENT
int main(void)
{
    puts("persistent: this MPI has no MPI_Alltoallv_init");
    return 0;
}
#else

#include "check.h"

/* A library of the program: a communicator of its own, and plans of other counts each. */
enum { PLANS = 3, STARTS = 25, MOST = 8 };

struct library {
    MPI_Comm comm;
    int rank, ranks;
    MPI_Request plan[PLANS];
    int *out[PLANS], *in[PLANS];
};

static bool served;

/* Returns the number of ints that one rank sends another by a plan: none to some. */
static int count_of(int plan, int from, int to)
{
    return (from * 3 + to * 5 + plan) % MOST;
}

static int value_of(int plan, int start, int from, int to, int i)
{
    return ((plan * 100 + start) * 100 + from) * 100 + to + i * 1000003;
}

/* Makes a request by the form with large counts. */
static int init_wide(struct library *library, int plan, bool in_place, const int *arrays)
{
#if MPI_VERSION >= 4
    int n = library->ranks;
    MPI_Count *counts = calloc(2 * (size_t)n, sizeof *counts);
    MPI_Aint *at = calloc((size_t)n, sizeof *at);
    for (int i = 0; i < n; i++) {
        counts[i] = arrays[i];
        counts[n + i] = arrays[2 * n + i];
        at[i] = arrays[n + i];
    }
    int error = MPI_Alltoallv_init_c(in_place ? MPI_IN_PLACE : library->out[plan], counts, at,
                                     MPI_INT, library->in[plan], counts + n, at, MPI_INT,
                                     library->comm, MPI_INFO_NULL, &library->plan[plan]);
    free(counts), free(at);
    return error;
#else
    return MPI_Alltoallv_init(in_place ? MPI_IN_PLACE : library->out[plan], arrays,
                              arrays + library->ranks, MPI_INT, library->in[plan],
                              arrays + 2 * library->ranks, arrays + 3 * library->ranks, MPI_INT,
                              library->comm, MPI_INFO_NULL, &library->plan[plan]);
#endif
}

static void open_plan(struct library *library, int plan, bool in_place, bool wide)
{
    int n = library->ranks, *arrays = calloc(4 * (size_t)n, sizeof *arrays);
    for (int i = 0; i < n; i++) {
        arrays[i] = count_of(plan, library->rank, i);
        arrays[2 * n + i] = in_place ? count_of(plan, 0, 0) : count_of(plan, i, library->rank);
        arrays[n + i] = arrays[3 * n + i] = i * MOST;
    }
    library->out[plan] = calloc((size_t)(n * MOST), sizeof(int));
    library->in[plan] = calloc((size_t)(n * MOST), sizeof(int));
    int before = vas_persistent_requests();
    int error = wide ? init_wide(library, plan, in_place, arrays)
                     : MPI_Alltoallv_init(in_place ? MPI_IN_PLACE : library->out[plan], arrays,
                                          arrays + n, MPI_INT, library->in[plan], arrays + 2 * n,
                                          arrays + 3 * n, MPI_INT, library->comm, MPI_INFO_NULL,
                                          &library->plan[plan]);
    CHECK(error == 0);
    CHECK(vas_persistent_requests() == before + served);
    free(arrays);
}

static void open_library(struct library *library)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &library->comm);
    MPI_Comm_rank(library->comm, &library->rank);
    MPI_Comm_size(library->comm, &library->ranks);
    for (int plan = 0; plan < PLANS; plan++)
        open_plan(library, plan, false, plan == 1);
}

static void fill(const struct library *library, int plan, int start)
{
    for (int to = 0; to < library->ranks; to++)
        for (int i = 0; i < count_of(plan, library->rank, to); i++)
            library->out[plan][to * MOST + i] = value_of(plan, start, library->rank, to, i);
}

static void check(const struct library *library, int plan, int start)
{
    for (int from = 0; from < library->ranks; from++)
        for (int i = 0; i < MOST; i++) {
            bool sent = i < count_of(plan, from, library->rank);
            int expected = value_of(plan, start, from, library->rank, i);
            CHECK(library->in[plan][from * MOST + i] == (sent ? expected : 0));
        }
}

/* Frees requests in another order on each rank: freeing one may not wait for another. */
static void close_library(struct library *library)
{
    MPI_Comm_free(&library->comm);
    for (int i = 0; i < PLANS; i++) {
        int plan = (i + library->rank) % PLANS;
        CHECK(MPI_Request_free(&library->plan[plan]) == 0);
        CHECK(library->plan[plan] == MPI_REQUEST_NULL);
        free(library->out[plan]), free(library->in[plan]);
    }
}

/* The plans of both at once, with one's MPI_Startall and the other's MPI_Start and MPI_Test, and a
 * call on the same communicator between start and end. */
static void check_two_libraries(void)
{
    struct library one, two;
    MPI_Status ended[PLANS];
    open_library(&one), open_library(&two);
    int *ones = malloc(4 * (size_t)one.ranks * sizeof *ones), *at = ones + one.ranks;
    for (int i = 0; i < one.ranks; i++) {
        ones[i] = 1;
        at[i] = i;
    }
    for (int start = 0; start < STARTS; start++) {
        for (int plan = 0; plan < PLANS; plan++)
            fill(&one, plan, start), fill(&two, plan, start + 1);
        MPI_Startall(PLANS, one.plan);
        for (int plan = 0; plan < PLANS; plan++)
            MPI_Start(&two.plan[plan]);
        int *out = at + one.ranks, *in = out + one.ranks;
        for (int i = 0; i < one.ranks; i++)
            out[i] = one.rank;
        CHECK(MPI_Alltoallv(out, ones, at, MPI_INT, in, ones, at, MPI_INT, one.comm) == 0);
        for (int i = 0; i < one.ranks; i++)
            CHECK(in[i] == i);
        for (int plan = 0; plan < PLANS; plan++)
            for (int done = 0; !done;)
                MPI_Test(&two.plan[plan], &done, MPI_STATUS_IGNORE);
        MPI_Waitall(PLANS, one.plan, ended);
        for (int plan = 0; plan < PLANS; plan++)
            check(&one, plan, start), check(&two, plan, start + 1);
    }
    free(ones);
    close_library(&two), close_library(&one);
}

/* Rank 0 waits for a message that the last rank sends when its own plan has ended: the plan gets
 * on although rank 0 is in a call that has nothing to do with it. */
static void check_progress(void)
{
    struct library library;
    open_library(&library);
    int last = library.ranks - 1, word = 0;
    for (int start = 0; start < STARTS; start++) {
        fill(&library, 0, start);
        MPI_Start(&library.plan[0]);
        if (library.rank == 0)
            MPI_Recv(&word, 1, MPI_INT, last, 9, library.comm, MPI_STATUS_IGNORE);
        MPI_Wait(&library.plan[0], MPI_STATUS_IGNORE);
        if (library.rank == last)
            MPI_Send(&start, 1, MPI_INT, 0, 9, library.comm);
        check(&library, 0, start);
        CHECK(library.rank != 0 || word == start);
    }
    close_library(&library);
}

/* Equal counts on all ranks, as MPI_IN_PLACE needs them. */
static void check_in_place(bool wide)
{
    struct library library = {.comm = MPI_COMM_WORLD};
    MPI_Comm_rank(library.comm, &library.rank);
    MPI_Comm_size(library.comm, &library.ranks);
    enum { PLAN = 2 };
    open_plan(&library, PLAN, true, wide);
    for (int start = 0; start < 3; start++) {
        for (int to = 0; to < library.ranks; to++)
            for (int i = 0; i < PLAN; i++)
                library.in[PLAN][to * MOST + i] = value_of(PLAN, start, library.rank, to, i);
        MPI_Start(&library.plan[PLAN]);
        MPI_Wait(&library.plan[PLAN], MPI_STATUS_IGNORE);
        for (int from = 0; from < library.ranks; from++)
            for (int i = 0; i < PLAN; i++)
                CHECK(library.in[PLAN][from * MOST + i] ==
                      value_of(PLAN, start, from, library.rank, i));
    }
    CHECK(MPI_Request_free(&library.plan[PLAN]) == 0);
    free(library.out[PLAN]), free(library.in[PLAN]);
}

/* Requests of others pass through the same functions. */
static void check_other_requests(void)
{
    int rank, ranks, out = 1, in = 0;
    MPI_Request pair[2];
    MPI_Status ended[2];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Recv_init(&in, 1, MPI_INT, (rank + 1) % ranks, 3, MPI_COMM_WORLD, &pair[0]);
    MPI_Send_init(&out, 1, MPI_INT, (rank + ranks - 1) % ranks, 3, MPI_COMM_WORLD, &pair[1]);
    MPI_Startall(2, pair);
    MPI_Waitall(2, pair, ended);
    MPI_Start(&pair[0]), MPI_Start(&pair[1]);
    MPI_Waitall(2, pair, ended);
    CHECK(in == 1 && MPI_Request_free(&pair[0]) == 0 && MPI_Request_free(&pair[1]) == 0);
}

static void check_intercommunicator(void)
{
    MPI_Comm half, inter;
    MPI_Request request;
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int low = ranks / 2, mine = rank < low, *zeros = calloc((size_t)ranks, sizeof *zeros);
    MPI_Comm_split(MPI_COMM_WORLD, mine, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, mine ? low : 0, 7, &inter);
    CHECK(MPI_Alltoallv_init(NULL, zeros, zeros, MPI_INT, NULL, zeros, zeros, MPI_INT, inter,
                             MPI_INFO_NULL, &request) == 0);
    CHECK(vas_persistent_requests() == 0);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    MPI_Comm_free(&inter), MPI_Comm_free(&half);
    free(zeros);
}

static int handled;

static void on_error(MPI_Comm *comm, int *error, ...)
{
    (void)comm, (void)error;
    handled++;
}

/* A wrong program: every rank expects fewer ints than come. Waiting for it has the error, by the
 * handler that the communicator had. */
static int wait_for_error(MPI_Errhandler handler)
{
    MPI_Comm comm;
    MPI_Request request;
    int ranks, class;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_size(comm, &ranks);
    int *ones = calloc(7 * (size_t)ranks + 2, sizeof *ones), *twos = ones + ranks;
    int *at = twos + ranks, *out = at + ranks, *in = out + 2 * ranks;
    for (int i = 0; i < ranks; i++) {
        ones[i] = 1;
        twos[i] = 2;
        at[i] = i;
    }
    MPI_Comm_set_errhandler(comm, handler);
    CHECK(MPI_Alltoallv_init(out, twos, at, MPI_INT, in, ones, at, MPI_INT, comm, MPI_INFO_NULL,
                             &request) == 0);
    MPI_Start(&request);
    MPI_Error_class(MPI_Wait(&request, MPI_STATUS_IGNORE), &class);
    /* What is under way on the plan's communicator stays, and so do its buffers. */
    return class;
}

static void check_errors(void)
{
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(on_error, &handler);
    CHECK(wait_for_error(MPI_ERRORS_RETURN) == MPI_ERR_TRUNCATE && handled == 0);
    /* MPICH 5 returns no error from a wait whose handler returned. */
    wait_for_error(handler);
    CHECK(handled == 1);
    MPI_Errhandler_free(&handler);
}

/* What is wrong with no request at all is MPI's to report, here while requests are served. */
static void check_no_request(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(vas_persistent_requests() > 0);
    CHECK(MPI_Start(NULL) != 0 && MPI_Request_free(NULL) != 0);
#ifndef MPI_ABI_VERSION /* MPICH 5.0.2's library of the standard ABI crashes by itself there. */
    CHECK(MPI_Startall(1, NULL) != 0);
#endif
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    int rank, provided = MPI_THREAD_SINGLE;
    served = argc > 1 && atoi(argv[1]) == 1;
    if (argc > 2 && atoi(argv[2]) == 0)
        MPI_Init(&argc, &argv);
    else
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    check_two_libraries();
    check_progress();
    check_in_place(false);
    check_in_place(true);
    check_other_requests();
    check_intercommunicator();
    CHECK(vas_persistent_requests() == 0);
    if (served) {
        check_errors();
        check_no_request();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        puts("persistent: every check holds");
    MPI_Finalize();
    return 0;
}
#endif
