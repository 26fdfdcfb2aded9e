/* Tests the calls that the library leaves to MPI, while it serves others on the same communicator:
 * nonblocking ones, those of neighbours, those between two groups, and persistent MPI_Alltoallw.
 * Run on 4 ranks or more, with VAS_A2AV_MIN_RANKS=2. Exits with 1 where something is wrong. */
#include "../include/vas_a2av.h"
#include "../mpi/registry.h"
#include "ints.h"

static int some(int from, int to)
{
    return (3 * from + 5 * to) % 7;
}

/* Both sides of a call, as this rank has them. */
struct sides {
    int rank;
    struct ints out, in;
};

static struct sides sides_of(int rank, int ranks)
{
    struct sides made = {.rank = rank};
    made.out = ints_of(ranks, rank, some, true);
    made.in = ints_of(ranks, rank, some, false);
    ints_fill(&made.out, rank);
    return made;
}

static void check_and_free(struct sides *sides)
{
    ints_check(&sides->in, sides->rank);
    ints_free(&sides->out), ints_free(&sides->in);
}

static int call_v(const struct sides *s, MPI_Comm comm)
{
    return MPI_Alltoallv(s->out.values, s->out.counts, s->out.at, MPI_INT, s->in.values,
                         s->in.counts, s->in.at, MPI_INT, comm);
}

static int call_w(const struct sides *s, MPI_Comm comm)
{
    return MPI_Alltoallw(s->out.values, s->out.counts, s->out.bytes_at, s->out.types,
                         s->in.values, s->in.counts, s->in.bytes_at, s->in.types, comm);
}

/* The library serves a call between the start and the end of two of MPI's own. */
static void check_nonblocking(MPI_Comm comm, int rank, int ranks)
{
    struct sides v = sides_of(rank, ranks), w = sides_of(rank, ranks), own = sides_of(rank, ranks);
    MPI_Request under_way[2];
    MPI_Status ended[2];
    CHECK(MPI_Ialltoallv(v.out.values, v.out.counts, v.out.at, MPI_INT, v.in.values, v.in.counts,
                         v.in.at, MPI_INT, comm, &under_way[0]) == 0);
    CHECK(MPI_Ialltoallw(w.out.values, w.out.counts, w.out.bytes_at, w.out.types, w.in.values,
                         w.in.counts, w.in.bytes_at, w.in.types, comm, &under_way[1]) == 0);
    CHECK(call_v(&own, comm) == 0);
    CHECK(MPI_Waitall(2, under_way, ended) == 0);
    CHECK(vas_registry_find(comm)->totals.tallies[0].calls == 1);
    check_and_free(&v), check_and_free(&w), check_and_free(&own);
}

static void check_persistent_w(MPI_Comm comm, int rank, int ranks)
{
#if MPI_VERSION >= 4
    struct sides w = sides_of(rank, ranks), own = sides_of(rank, ranks);
    MPI_Request request;
    CHECK(MPI_Alltoallw_init(w.out.values, w.out.counts, w.out.bytes_at, w.out.types, w.in.values,
                             w.in.counts, w.in.bytes_at, w.in.types, comm, MPI_INFO_NULL,
                             &request) == 0);
    for (int start = 0; start < 3; start++) {
        CHECK(MPI_Start(&request) == 0 && MPI_Wait(&request, MPI_STATUS_IGNORE) == 0);
        CHECK(call_w(&own, comm) == 0);
    }
    CHECK(MPI_Request_free(&request) == 0);
    check_and_free(&w), check_and_free(&own);
#else
    (void)comm, (void)rank, (void)ranks;
#endif
}

/* Sends each neighbour rank + 1 ints; a ring's neighbours are the rank before and the next. */
static void check_neighbours(MPI_Comm comm, int rank, int ranks, int form)
{
    const int near[] = {(rank + ranks - 1) % ranks, (rank + 1) % ranks};
    const int counts[] = {rank + 1, rank + 1}, in_counts[] = {near[0] + 1, near[1] + 1};
    const int at[] = {0, ranks};
    const MPI_Aint bytes_at[] = {0, ranks * (MPI_Aint)sizeof(int)};
    const MPI_Datatype types[] = {MPI_INT, MPI_INT};
    int *out = calloc(4 * (size_t)ranks, sizeof *out), *in = out + 2 * ranks, error;
    MPI_Request request = MPI_REQUEST_NULL;
    for (int i = 0; i < 2 * ranks; i++)
        out[i] = ints_value(rank, near[i / ranks], i % ranks);
    if (form == 0)
        error = MPI_Neighbor_alltoallv(out, counts, at, MPI_INT, in, in_counts, at, MPI_INT, comm);
    else if (form == 1)
        error = MPI_Neighbor_alltoallw(out, counts, bytes_at, types, in, in_counts, bytes_at, types,
                                       comm);
    else
        error = MPI_Ineighbor_alltoallv(out, counts, at, MPI_INT, in, in_counts, at, MPI_INT, comm,
                                        &request);
    CHECK(error == 0 && MPI_Wait(&request, MPI_STATUS_IGNORE) == 0);
    for (int i = 0; i < 2 * ranks; i++) {
        bool sent = i % ranks < in_counts[i / ranks];
        CHECK(in[i] == (sent ? ints_value(near[i / ranks], rank, i % ranks) : 0));
    }
    free(out);
}

/* Two groups, the first of so many ranks: each rank has a block for each of the other group. */
static void check_between_groups(int first)
{
    MPI_Comm group, inter;
    MPI_Request request;
    int rank, remote;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank < first, rank, &group);
    MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, rank < first ? first : 0, 7, &inter);
    MPI_Comm_remote_size(inter, &remote);
    MPI_Comm_rank(group, &rank);
    CHECK(vas_registry_find(inter) == NULL);
    struct sides v = sides_of(rank, remote), w = sides_of(rank, remote), i = sides_of(rank, remote);
    CHECK(call_v(&v, inter) == 0 && call_w(&w, inter) == 0);
    CHECK(MPI_Ialltoallv(i.out.values, i.out.counts, i.out.at, MPI_INT, i.in.values, i.in.counts,
                         i.in.at, MPI_INT, inter, &request) == 0);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == 0);
    check_and_free(&v), check_and_free(&w), check_and_free(&i);
    MPI_Comm_free(&inter), MPI_Comm_free(&group);
}

int main(int argc, char **argv)
{
    const int yes = 1;
    int rank, ranks;
    MPI_Comm ring;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &yes, 0, &ring);
    check_nonblocking(ring, rank, ranks);
    for (int form = 0; form < 3; form++)
        check_neighbours(ring, rank, ranks, form);
    check_persistent_w(ring, rank, ranks);
    for (int first = 1; first < ranks; first++)
        check_between_groups(first);
    const struct vas_totals *totals = &vas_registry_find(ring)->totals;
    CHECK(vas_totals_calls(totals) == totals->tallies[0].calls);
    MPI_Comm_free(&ring);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        puts("passed: every check holds");
    MPI_Finalize();
    return 0;
}
