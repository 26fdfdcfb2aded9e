/* Tests blocks, and elements of one block, of more than 2 GiB. Run on 2 ranks, with
 * VAS_A2AV_MIN_RANKS=2. Needs 5 GB of memory: what is sent is a few pages that are mapped many
 * times. Exits with 1 where something is not as it must be. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../include/vas_a2av.h"
#include "../mpi/plain_type.h"

#define CHECK(what) ((what) ? (void)0 : fail(#what, __LINE__))

/* Rows of a MiB and gaps of 8 bytes. The pages are mapped every LOOP bytes, which a GiB is no
 * multiple of: a piece in the wrong place has wrong bytes. */
enum { RANKS = 2, ROWS = 2049, ROW = 1 << 20, GAP = 8, LOOP = ROW + 4096 };
#define DATA ((size_t)ROWS * ROW)
#define SPREAD ((size_t)ROWS * (ROW + GAP))

static void fail(const char *what, int line)
{
    fprintf(stderr, "large: line %d: not true: %s\n", line, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static unsigned char value(size_t at)
{
    size_t in_loop = at % LOOP;
    return (unsigned char)(in_loop * 2654435761u >> 15);
}

/* Returns the place of a byte of the data among rows with gaps. */
static size_t spread(size_t at)
{
    return at / ROW * (ROW + GAP) + at % ROW;
}

/* Maps so many bytes to the same few pages. */
static unsigned char *looped(size_t bytes)
{
    size_t whole = (bytes + LOOP - 1) / LOOP * LOOP;
    int file = memfd_create("large", 0);
    CHECK(file >= 0 && ftruncate(file, LOOP) == 0);
    unsigned char *at = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                             -1, 0);
    CHECK(at != MAP_FAILED);
    for (size_t i = 0; i < whole; i += LOOP)
        CHECK(mmap(at + i, LOOP, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) ==
              at + i);
    close(file);
    for (size_t i = 0; i < LOOP; i++)
        at[i] = value(i);
    return at;
}

static unsigned char *fresh(size_t bytes)
{
    unsigned char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(at != MAP_FAILED);
    return at;
}

static MPI_Datatype commit(MPI_Datatype type)
{
    MPI_Type_commit(&type);
    return type;
}

static MPI_Datatype row_of(void)
{
    MPI_Datatype row;
    MPI_Type_contiguous(ROW, MPI_BYTE, &row);
    return commit(row);
}

/* Returns the type of all rows, with gaps: one element of it is more than 2 GiB. */
static MPI_Datatype rows_of(void)
{
    MPI_Datatype rows;
    MPI_Type_create_hvector(ROWS, ROW, ROW + GAP, MPI_BYTE, &rows);
    return commit(rows);
}

/* Lets rank 0 send `count` elements to rank 1. */
static void send_to_one(int rank, const void *out, int count, MPI_Datatype type, void *in,
                        int in_count, MPI_Datatype in_type)
{
    int out_counts[RANKS] = {0, rank == 0 ? count : 0}, at[RANKS] = {0};
    int in_counts[RANKS] = {rank == 1 ? in_count : 0, 0};
    CHECK(VAS_Alltoallv(out, out_counts, at, type, in, in_counts, at, in_type, MPI_COMM_WORLD) ==
          0);
}

static void check_plain(int rank)
{
    MPI_Datatype row = row_of();
    unsigned char *out = looped(DATA), *in = fresh(DATA);
    send_to_one(rank, out, ROWS, row, in, ROWS, row);
    for (size_t i = 0; i < DATA && rank == 1; i++)
        if (in[i] != value(i))
            fail("every byte of rows is right", __LINE__);
    CHECK(munmap(in, DATA) == 0 && munmap(out, DATA) == 0);
    MPI_Type_free(&row);
}

static void check_large_counts(int rank)
{
#if MPI_VERSION >= 4
    unsigned char *out = looped(DATA), *in = fresh(DATA);
    MPI_Count out_counts[RANKS] = {0, rank == 0 ? (MPI_Count)DATA : 0};
    MPI_Count in_counts[RANKS] = {rank == 1 ? (MPI_Count)DATA : 0, 0};
    MPI_Aint at[RANKS] = {0};
    CHECK(VAS_Alltoallv_c(out, out_counts, at, MPI_BYTE, in, in_counts, at, MPI_BYTE,
                          MPI_COMM_WORLD) == 0);
    for (size_t i = 0; i < DATA && rank == 1; i++)
        if (in[i] != value(i))
            fail("every byte of a large count is right", __LINE__);
    CHECK(munmap(in, DATA) == 0 && munmap(out, DATA) == 0);
#else
    (void)rank;
#endif
}

/* One element of rows with gaps, which is packed, against rows without. */
static void check_packed(int rank)
{
    MPI_Datatype row = row_of(), rows = rows_of();
    unsigned char *out = looped(SPREAD), *in = fresh(DATA);
    send_to_one(rank, out, 1, rows, in, ROWS, row);
    for (size_t i = 0; i < DATA && rank == 1; i++)
        if (in[i] != value(spread(i)))
            fail("every packed byte is right", __LINE__);
    CHECK(munmap(in, DATA) == 0 && munmap(out, SPREAD) == 0);
    MPI_Type_free(&row), MPI_Type_free(&rows);
}

static void check_unpacked(int rank)
{
    MPI_Datatype row = row_of(), rows = rows_of();
    unsigned char *out = looped(DATA), *in = fresh(SPREAD);
    send_to_one(rank, out, ROWS, row, in, 1, rows);
    for (size_t i = 0; i < DATA && rank == 1; i++)
        if (in[spread(i)] != value(i))
            fail("every unpacked byte is right", __LINE__);
    for (size_t i = ROW; i < SPREAD && rank == 1; i += ROW + GAP)
        for (size_t j = 0; j < GAP; j++)
            CHECK(in[i + j] == 0);
    CHECK(munmap(in, SPREAD) == 0 && munmap(out, DATA) == 0);
    MPI_Type_free(&row), MPI_Type_free(&rows);
}

/* Packs two such elements. Only the last packed bytes have pages of their own, and are right if the
 * second element was read, and written, where the first one ends. */
static void check_elements(void)
{
    MPI_Datatype rows = rows_of();
    struct vas_type facts;
    unsigned char *from = looped(2 * SPREAD), *to = looped(2 * DATA);
    unsigned char *last = to + 2 * DATA - LOOP;
    CHECK(mmap(last, LOOP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
               0) == last);
    CHECK(vas_type_of(rows, &facts) == 0 && facts.size == (MPI_Count)DATA && !facts.plain);
    CHECK(vas_type_pack(&facts, rows, from, 2, to, MPI_COMM_SELF) == 0);
    for (size_t i = 0; i < LOOP; i++)
        CHECK(last[i] == value((size_t)facts.extent + spread(DATA - LOOP + i)));
    CHECK(munmap(from, 2 * SPREAD) == 0 && munmap(to, 2 * DATA) == 0);
    MPI_Type_free(&rows);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK(ranks == RANKS);
    check_plain(rank);
    check_large_counts(rank);
    check_packed(rank);
    check_unpacked(rank);
    if (rank == 0)
        check_elements();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        puts("large: every check holds");
    MPI_Finalize();
    return 0;
}
