/* Tests the calls as programs use them, on communicators of several kinds: blocks that grow with
 * the rank, in place too; neighbours alone; a matrix that is transposed; and nothing at all.
 * Run on 4 ranks or more, with VAS_A2AV_MIN_RANKS=2. Exits with 1 where something is wrong. */
#include <string.h>

#include "../include/vas_a2av.h"
#include "../mpi/registry.h"
#include "ints.h"

enum { INT = (int)sizeof(int), MOST = 65536 };

static int of_receiver(int from, int to)
{
    (void)from;
    return to;
}

static int of_both(int from, int to)
{
    return from + to; /* as in place, where both ways have one size */
}

static void check_growing(MPI_Comm comm, int rank, int ranks, ints_count *count, bool by_rank)
{
    struct ints out = ints_of(ranks, rank, count, true), in = ints_of(ranks, rank, count, false);
    ints_fill(&out, rank);
    int error = by_rank ? MPI_Alltoallw(out.values, out.counts, out.bytes_at, out.types, in.values,
                                        in.counts, in.bytes_at, in.types, comm)
                        : MPI_Alltoallv(out.values, out.counts, out.at, MPI_INT, in.values,
                                        in.counts, in.at, MPI_INT, comm);
    CHECK(error == MPI_SUCCESS);
    ints_check(&in, rank);
    ints_free(&out), ints_free(&in);
}

static void check_in_place(MPI_Comm comm, int rank, int ranks, bool by_rank)
{
    struct ints both = ints_of(ranks, rank, of_both, false);
    ints_fill(&both, rank);
    int error = by_rank ? MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, both.values, both.counts,
                                        both.bytes_at, both.types, comm)
                        : MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, both.values,
                                        both.counts, both.at, MPI_INT, comm);
    CHECK(error == MPI_SUCCESS);
    ints_check(&both, rank);
    ints_free(&both);
}

/* Each rank sends to the next and the one before it alone, from one int to more than the core's
 * pieces and what goes direct; the others have no place either. */
static void check_neighbours(MPI_Comm comm, int rank, int ranks)
{
    int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    size_t n = (size_t)ranks;
    int *counts = calloc(2 * n, sizeof *counts), *at = counts + n;
    int *out = malloc(2 * MOST * sizeof *out), *in = malloc(2 * MOST * sizeof *in);
    at[next] = MOST;
    for (int length = 1; length <= MOST; length *= 16) {
        counts[next] = counts[before] = length;
        for (int i = 0; i < length; i++) {
            out[at[before] + i] = ints_value(rank, before, i);
            out[at[next] + i] = ints_value(rank, next, i);
        }
        memset(in, 0, 2 * MOST * sizeof *in);
        CHECK(MPI_Alltoallv(out, counts, at, MPI_INT, in, counts, at, MPI_INT, comm) == 0);
        for (int i = 0; i < MOST; i++) {
            int from_before = i < length ? ints_value(before, rank, i) : 0;
            int from_next = i < length ? ints_value(next, rank, i) : 0;
            CHECK(next == before || in[at[before] + i] == from_before);
            CHECK(in[at[next] + i] == from_next);
        }
    }
    free(counts), free(out), free(in);
}

static int lines_of(int rank)
{
    return 2 + rank % 3;
}

static int first_line(int rank)
{
    int line = 0;
    for (int i = 0; i < rank; i++)
        line += lines_of(i);
    return line;
}

/* Returns the type of the elements of my rows that are columns of another. */
static MPI_Datatype part_of_rows(int rank, int other, int lines)
{
    const int sizes[] = {lines_of(rank), lines}, part[] = {lines_of(rank), lines_of(other)};
    const int from[] = {0, first_line(other)};
    MPI_Datatype type;
    MPI_Type_create_subarray(2, sizes, part, from, MPI_ORDER_C, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

/* Returns the type that takes rows of another, one after the other, as columns of mine. */
static MPI_Datatype part_of_columns(int rank, int other, int lines)
{
    MPI_Datatype column, type;
    MPI_Type_vector(lines_of(rank), 1, lines, MPI_INT, &column);
    MPI_Type_create_hvector(lines_of(other), 1, INT, column, &type);
    MPI_Type_free(&column);
    MPI_Type_commit(&type);
    return type;
}

/* A square matrix, of which each rank has some rows, is transposed by one call. */
static void check_transposed(MPI_Comm comm, int rank, int ranks)
{
    size_t n = (size_t)ranks;
    int lines = first_line(ranks), mine = lines_of(rank), first = first_line(rank);
    int *rows = malloc((size_t)(mine * lines) * sizeof *rows);
    int *columns = malloc((size_t)(mine * lines) * sizeof *columns);
    int *memory = calloc(3 * n, sizeof *memory), *none = memory + n, *at = none + n;
    MPI_Datatype *types = calloc(2 * n, sizeof *types);
    for (int i = 0; i < mine * lines; i++) {
        rows[i] = ints_value(first + i / lines, i % lines, 0);
        columns[i] = -1;
    }
    for (int i = 0; i < ranks; i++) {
        memory[i] = 1;
        at[i] = first_line(i) * INT;
        types[i] = part_of_rows(rank, i, lines);
        types[ranks + i] = part_of_columns(rank, i, lines);
    }
    CHECK(MPI_Alltoallw(rows, memory, none, types, columns, memory, at, types + n, comm) == 0);
    for (int i = 0; i < mine * lines; i++)
        CHECK(columns[i] == ints_value(i % lines, first + i / lines, 0));
    for (int i = 0; i < 2 * ranks; i++)
        MPI_Type_free(&types[i]);
    free(rows), free(columns), free(memory), free(types);
}

/* No byte moves: counts of 0 with a type, elements of no size, and both, with other types and
 * counts where they are received. */
static void check_nothing(MPI_Comm comm, int rank, int ranks)
{
    size_t n = (size_t)ranks;
    int *some = calloc(3 * n, sizeof *some), *none = some + n, *at = none + n, in[2] = {7, 7};
    MPI_Datatype *types = calloc(2 * n, sizeof *types), nothing, spread;
    MPI_Type_contiguous(0, MPI_DOUBLE, &nothing);
    MPI_Type_create_resized(nothing, 0, 5, &spread);
    MPI_Type_commit(&nothing), MPI_Type_commit(&spread);
    for (int i = 0; i < ranks; i++) {
        some[i] = (rank + i) % 3;
        types[i] = some[i] == 0 ? MPI_INT : i % 2 ? nothing : spread;
        types[ranks + i] = nothing;
    }
    CHECK(MPI_Alltoallw(in, some, at, types, in, some, at, types + n, comm) == 0);
    CHECK(MPI_Alltoallw(in, some, at, types, in, none, at, types, comm) == 0);
    CHECK(MPI_Alltoallv(in, some, at, spread, in, none, at, MPI_INT, comm) == 0);
    CHECK(MPI_Alltoallv(NULL, none, at, MPI_INT, NULL, none, at, spread, comm) == 0);
    CHECK(in[0] == 7 && in[1] == 7);
    MPI_Type_free(&nothing), MPI_Type_free(&spread);
    free(some), free(types);
}

enum { SAME, BACKWARDS, HALVES, WITHOUT_FIRST, ROUND, KINDS };

/* Returns a communicator of this kind; MPI_COMM_NULL where this rank is not in it. */
static MPI_Comm communicator_of(int kind)
{
    const int yes = 1;
    int rank, ranks;
    MPI_Comm comm;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (kind == SAME)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    else if (kind == BACKWARDS)
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
    else if (kind == HALVES)
        MPI_Comm_split(MPI_COMM_WORLD, rank < ranks / 2, rank, &comm);
    else if (kind == WITHOUT_FIRST)
        MPI_Comm_split(MPI_COMM_WORLD, rank > 0 ? 0 : MPI_UNDEFINED, rank, &comm);
    else
        MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &yes, 0, &comm);
    return comm;
}

static void check_on(MPI_Comm comm)
{
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (int by_rank = 0; by_rank < 2; by_rank++) {
        check_growing(comm, rank, ranks, of_receiver, by_rank);
        check_growing(comm, rank, ranks, of_both, by_rank);
        check_in_place(comm, rank, ranks, by_rank);
    }
    check_neighbours(comm, rank, ranks);
    check_transposed(comm, rank, ranks);
    check_nothing(comm, rank, ranks);
    /* Six calls, five lengths, a matrix and four times nothing. */
    CHECK(vas_registry_find(comm)->totals.tallies[0].calls == 6 + 5 + 1 + 4);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int kind = 0; kind < KINDS; kind++) {
        MPI_Comm comm = communicator_of(kind);
        if (comm == MPI_COMM_NULL)
            continue;
        check_on(comm);
        MPI_Comm_free(&comm);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        puts("uses: every check holds");
    MPI_Finalize();
    return 0;
}
