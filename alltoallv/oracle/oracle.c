/* Compares the library with PMPI_Alltoallv and PMPI_Alltoallw, byte for byte, on random cases.
 *
 *   mpiexec -n 33 oracle CASES [SEED] [ALGORITHM]
 *
 * Each case has a random number of the ranks, counts, displacements with gaps, datatypes and
 * settings. Send buffers are mapped read-only while a case runs. Receive buffers begin as equal
 * noise, so that a byte that nobody may touch is compared too. Exits with 1 if anything differs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../include/vas_a2av.h"
#include "../mpi/communicator.h"
#include "layout.h"

enum { AT_RANDOM = -1, CASES_WITH_ONE = 3 };

/* A communicator of the first ranks, and the library's state for it. */
struct group {
    MPI_Comm comm;
    struct vas_communicator *own;
};

struct oracle {
    uint64_t seed;
    int rank, ranks, algorithm;
    struct group *groups;
    bool null_types;
    struct type_kind kinds[ALL_TYPES];
    long compared, different;
};

struct buffers {
    unsigned char *send, *ours, *reference;
    size_t send_mapped;
    const void *from; /* the addresses that are passed */
    void *to;
};

static void fill(unsigned char *bytes, size_t count, struct dice dice)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)(dice_next(&dice) >> 11);
}

static unsigned char *read_only(const struct oracle *oracle, const struct oracle_case *is,
                                size_t bytes, size_t *mapped)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    *mapped = (bytes + page - 1) / page * page;
    unsigned char *memory =
        mmap(NULL, *mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("oracle: mmap");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    fill(memory, bytes, dice_of(is->seed, (uint64_t)oracle->rank, 2001));
#ifndef A2AV_AS_PRINTED
    mprotect(memory, *mapped, PROT_READ);
#endif
    return memory;
}

static int call_reference(const struct oracle_case *is, const void *from, const struct layout *s,
                          void *to, const struct layout *r, MPI_Comm comm)
{
    return is->by_rank
               ? PMPI_Alltoallw(from, s->counts, s->displacements, s->types, to, r->counts,
                                r->displacements, r->types, comm)
               : PMPI_Alltoallv(from, s->counts, s->displacements, s->types[0], to, r->counts,
                                r->displacements, r->types[0], comm);
}

/* Calls the library by the names that programs call, with the settings of the environment. */
static int call_by_name(const struct oracle_case *is, const void *from, const struct layout *s,
                        void *to, const struct layout *r, MPI_Comm comm)
{
#if MPI_VERSION >= 4
    if (is->wide)
        return is->by_rank
                   ? MPI_Alltoallw_c(from, s->wide_counts, s->wide_displacements, s->types, to,
                                     r->wide_counts, r->wide_displacements, r->types, comm)
                   : MPI_Alltoallv_c(from, s->wide_counts, s->wide_displacements, s->types[0], to,
                                     r->wide_counts, r->wide_displacements, r->types[0], comm);
#endif
    return is->by_rank
               ? MPI_Alltoallw(from, s->counts, s->displacements, s->types, to, r->counts,
                               r->displacements, r->types, comm)
               : MPI_Alltoallv(from, s->counts, s->displacements, s->types[0], to, r->counts,
                               r->displacements, r->types[0], comm);
}

static struct a2av_settings settings_of(const struct oracle *oracle, const struct oracle_case *is)
{
    static const int direct[] = {0, 12, 200, 1024, 1 << 20}, eager[] = {64, 200, 8192};
    static const int piece[] = {8192, 50000, 1 << 30}, batch[] = {1, 2, 8};
    struct a2av_settings settings = a2av_default_settings();
    struct dice dice = dice_of(oracle->seed, (uint64_t)(is->number / CASES_WITH_ONE), 3);
    settings.algorithm = (enum a2av_algorithm)dice_below(&dice, A2AV_ALGORITHMS);
    settings.radix = 2 + dice_below(&dice, 2) * dice_below(&dice, 40);
    settings.direct_bytes = (size_t)direct[dice_below(&dice, 5)];
    settings.eager_bytes = (size_t)eager[dice_below(&dice, 3)];
    settings.piece_bytes = (size_t)piece[dice_below(&dice, 3)];
    settings.batch = batch[dice_below(&dice, 3)];
    settings.leaders = 1 + dice_below(&dice, 4);
    if (oracle->algorithm != AT_RANDOM)
        settings.algorithm = (enum a2av_algorithm)oracle->algorithm;
    return settings;
}

static void compare(struct oracle *oracle, const struct oracle_case *is, const char *route,
                    const struct buffers *buffers, size_t bytes, int error)
{
    oracle->compared++;
    if (!error && memcmp(buffers->ours, buffers->reference, bytes) == 0)
        return;
    if (oracle->different++ == 0)
        fprintf(stderr,
                "oracle: seed %llu case %d rank %d of %d (%s): %s; pattern %d%s%s%s%s%s%s\n",
                (unsigned long long)oracle->seed, is->number, oracle->rank, is->ranks, route,
                error ? "an error" : "other bytes than PMPI's", is->pattern,
                is->in_place ? ", in place" : "", is->by_rank ? ", by rank" : "",
                is->wide ? ", wide" : "", is->overlaps ? ", blocks overlap" : "",
                is->bottom ? ", MPI_BOTTOM" : "", is->null_type ? ", null types" : "");
}

/* Tells of a send buffer that was written: in the printed form it is not mapped read-only. */
static void check_send_buffer(struct oracle *oracle, const struct oracle_case *is,
                              const unsigned char *bytes, size_t count)
{
    struct dice dice = dice_of(is->seed, (uint64_t)oracle->rank, 2001);
    unsigned char *before = malloc(count);
    fill(before, count, dice);
    if (memcmp(before, bytes, count) != 0 && oracle->different++ == 0)
        fprintf(stderr, "oracle: case %d rank %d: the send buffer was written\n", is->number,
                oracle->rank);
    free(before);
}

/* Calls the library with the arguments of the reference, or with MPI_BOTTOM, and compares. */
static void call_and_compare(struct oracle *oracle, const struct oracle_case *is,
                             struct group *group, const struct buffers *buffers,
                             struct layout *send, struct layout *receive, int error)
{
    const void *from = buffers->from;
    void *to = buffers->to;
    if (is->bottom && from && from != MPI_IN_PLACE) {
        layout_move_to_bottom(send, is, from);
        from = MPI_BOTTOM;
    }
    if (is->bottom && to) {
        layout_move_to_bottom(receive, is, to);
        to = MPI_BOTTOM;
    }
    if (is->number % 4 == 0) {
        error |= call_by_name(is, from, send, to, receive, group->comm);
        compare(oracle, is, "by name", buffers, receive->bytes, error);
        return;
    }
    group->own->settings.core = settings_of(oracle, is);
    struct vas_side out = layout_side(send, is, from), in = layout_side(receive, is, to);
    error |= vas_communicator_exchange(group->own, is->in_place ? NULL : &out, &in, group->comm);
    compare(oracle, is, a2av_name(group->own->settings.core.algorithm), buffers, receive->bytes,
            error);
}

static void run_case(struct oracle *oracle, const struct oracle_case *is, struct group *group)
{
    struct layout send, receive;
    struct buffers buffers;
    layout_make(&send, is, oracle->kinds, oracle->rank, true);
    layout_make(&receive, is, oracle->kinds, oracle->rank, false);
    buffers.send = read_only(oracle, is, send.bytes, &buffers.send_mapped);
    buffers.ours = malloc(receive.bytes);
    buffers.reference = malloc(receive.bytes);
    struct dice noise = dice_of(is->seed, (uint64_t)oracle->rank, 2002);
    bool none_in = receive.empty && is->null_if_empty, none_out = send.empty && is->null_if_empty;
    void *reference = none_in ? NULL : buffers.reference + receive.margin;
    buffers.to = none_in ? NULL : buffers.ours + receive.margin;
    buffers.from = is->in_place ? MPI_IN_PLACE : none_out ? NULL : buffers.send + send.margin;

    fill(buffers.reference, receive.bytes, noise);
    int error = call_reference(is, buffers.from, &send, reference, &receive, group->comm);
    fill(buffers.ours, receive.bytes, noise);
    call_and_compare(oracle, is, group, &buffers, &send, &receive, error);
    check_send_buffer(oracle, is, buffers.send, send.bytes);
    munmap(buffers.send, buffers.send_mapped);
    free(buffers.ours);
    free(buffers.reference);
    layout_free(&send, is);
    layout_free(&receive, is);
}

/* Makes a communicator of the first ranks for each number of ranks. */
static void make_groups(struct oracle *oracle)
{
    oracle->groups = calloc((size_t)oracle->ranks + 1, sizeof *oracle->groups);
    for (int ranks = 1; ranks <= oracle->ranks; ranks++) {
        struct group *group = &oracle->groups[ranks];
        /* The ranks of one machine are grouped as if they were on several, of which the last may
         * have fewer. */
        struct vas_settings settings = {
            .core = a2av_default_settings(), .min_ranks = 1, .node_ranks = 2 + ranks % 3};
        settings.core.algorithm = A2AV_SLOAV2X;
        MPI_Comm_split(MPI_COMM_WORLD, oracle->rank < ranks ? 0 : MPI_UNDEFINED, oracle->rank,
                       &group->comm);
        if (oracle->rank < ranks)
            group->own = vas_communicator_new(group->comm, &settings);
    }
}

static void free_groups(struct oracle *oracle)
{
    for (int ranks = oracle->rank + 1; ranks <= oracle->ranks; ranks++) {
        vas_communicator_free(oracle->groups[ranks].own);
        MPI_Comm_free(&oracle->groups[ranks].comm);
    }
    free(oracle->groups);
}

static void run_cases(struct oracle *oracle, int cases)
{
    for (int number = 0; number < cases; number++) {
        /* Three cases in a row have one communicator, for what it remembers. */
        struct dice dice = dice_of(oracle->seed, (uint64_t)(number / CASES_WITH_ONE), 4);
        int ranks = 1 + dice_below(&dice, oracle->ranks);
        bool again = number % CASES_WITH_ONE == 2;
        if (oracle->rank >= ranks)
            continue;
        struct oracle_case is = case_of(oracle->seed, again ? number - 1 : number, ranks,
                                        oracle->null_types);
        is.number = number;
        run_case(oracle, &is, &oracle->groups[ranks]);
    }
}

int main(int argc, char **argv)
{
    struct oracle oracle = {.seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1};
    int cases = argc > 1 ? atoi(argv[1]) : 1000;
    oracle.algorithm = argc > 3 ? a2av_by_name(argv[3]) : AT_RANDOM;
    if (cases < 1 || (argc > 3 && oracle.algorithm < 0)) {
        fprintf(stderr, "usage: oracle CASES [SEED] [ALGORITHM]\n");
        return 2;
    }
    /* Calls by name on few ranks are the library's too, and not MPI's own against itself. */
    setenv("VAS_A2AV_MIN_RANKS", "2", 0);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &oracle.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &oracle.ranks);
    types_make(oracle.kinds);
    oracle.null_types = mpi_takes_null_types();
    make_groups(&oracle);
    run_cases(&oracle, cases);
    long mine[2] = {oracle.compared, oracle.different}, all[2] = {0, 0};
    MPI_Allreduce(mine, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    free_groups(&oracle);
    types_free(oracle.kinds);
    if (oracle.rank == 0)
        printf("oracle: %d cases, %ld buffers compared, %ld different\n", cases, all[0], all[1]);
    MPI_Finalize();
    return all[1] == 0 && all[0] > 0 ? 0 : 1;
}
