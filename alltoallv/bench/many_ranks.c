/* Times calls of one algorithm among thousands of SimGrid's ranks, in the memory of one machine.
 *
 *   many_ranks ALGORITHM RADIX DISTRIBUTION BYTES CALLS [SEED]
 *
 * The core is the same as elsewhere. Its ranks are in one process here and nobody looks at the
 * blocks, so all ranks share what would be the same, or what nobody reads:
 *
 *   - the job. The size of a block depends on its distance alone, so the tables of sizes of all
 *     ranks are parts of one, each from another place on.
 *   - the table of distances. It has the size of the block that a rank holds for a distance, which
 *     is then the same on all ranks at any time, and where the block lies, which matters not.
 *   - relayed blocks. All lie in one place, as large as the largest.
 *
 * Lengths and headers are each rank's own, as they travel. Prints a line of JSON as bench does. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../core/slots.h"
#include "../mpi/transport.h"
#include "sizes.h"

/* The memory that all ranks share. */
static struct {
    size_t *sent, *received; /* by distance, twice over */
    unsigned char **blocks;  /* for each rank the same memory */
    unsigned char *room, *relayed;
    struct a2av_slot *slots;
} shared;

struct a2av_slot *__real_a2av_slots_of(const struct a2av_call *);
struct a2av_slot *__wrap_a2av_slots_of(const struct a2av_call *);
unsigned char *__wrap_a2av_arena_take(struct a2av_arena *, size_t bytes);
void __real_smpi_shared_free(void *);
void __wrap_smpi_shared_free(void *);

struct a2av_slot *__wrap_a2av_slots_of(const struct a2av_call *call)
{
    if (!shared.slots)
        shared.slots = __real_a2av_slots_of(call);
    return shared.slots;
}

unsigned char *__wrap_a2av_arena_take(struct a2av_arena *arena, size_t bytes)
{
    arena->held += bytes;
    return shared.relayed;
}

/* SimGrid's name of free. */
void __wrap_smpi_shared_free(void *memory)
{
    if (!memory || memory != shared.slots)
        __real_smpi_shared_free(memory);
}

/* Makes what is shared; the first rank that comes does it. */
static void share(const char *distribution, int bytes, uint64_t seed, int ranks)
{
    size_t n = (size_t)ranks;
    if (shared.sent)
        return;
    shared.sent = malloc(2 * n * sizeof(size_t));
    shared.received = malloc(2 * n * sizeof(size_t));
    shared.blocks = malloc(n * sizeof *shared.blocks);
    shared.room = calloc((size_t)bytes + 1, 1);
    shared.relayed = calloc((size_t)bytes + 1, 1);
    for (int by = 0; by < ranks; by++) {
        size_t size = (size_t)size_of(distribution, bytes, seed, 0, by, ranks);
        size_t back = by == 0 ? 0 : n - (size_t)by;
        shared.sent[by] = shared.sent[n + (size_t)by] = size;
        shared.received[back] = shared.received[n + back] = size;
        shared.blocks[by] = shared.room;
    }
}

static struct a2av_job job_of(int rank, int ranks)
{
    int at = ranks - rank;
    return (struct a2av_job){(const unsigned char *const *)shared.blocks, shared.sent + at,
                             shared.blocks, shared.received + at};
}

static void add(struct a2av_counts *sum, const struct a2av_counts *counts)
{
    sum->messages += counts->messages;
    sum->payload_bytes += counts->payload_bytes;
    sum->metadata_bytes += counts->metadata_bytes;
    sum->scratch_bytes = counts->scratch_bytes;
}

/* Returns the slowest rank's seconds of so many calls in a row, and what this rank sent. */
static double seconds_of(struct vas_transport *transport, const struct a2av_settings *settings,
                         struct a2av_state *state, int calls, struct a2av_counts *sum)
{
    struct a2av_job job = job_of(transport->base.rank, transport->base.size);
    double mine, slowest = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    mine = MPI_Wtime();
    for (int i = 0; i < calls; i++) {
        struct a2av_counts counts;
        if (a2av_run(&transport->base, settings, &job, state, &counts))
            MPI_Abort(MPI_COMM_WORLD, 1);
        add(sum, &counts);
    }
    mine = MPI_Wtime() - mine;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

static void print(const struct a2av_settings *settings, double seconds,
                  const struct a2av_counts *sum, uint64_t calls)
{
    printf("{\"used\": \"%s\", \"used_radix\": %d, \"used_leaders\": %d, \"seconds\": %.9f, "
           "\"messages\": %" PRIu64 ", \"payload_bytes\": %" PRIu64
           ", \"metadata_bytes\": %" PRIu64 ", \"scratch_bytes\": %" PRIu64 "}\n",
           a2av_name(settings->algorithm), settings->radix, settings->leaders,
           seconds / (double)calls, sum->messages / calls, sum->payload_bytes / calls,
           sum->metadata_bytes / calls, sum->scratch_bytes);
}

int main(int argc, char **argv)
{
    struct vas_transport transport;
    struct a2av_settings settings = a2av_default_settings();
    struct a2av_counts sum = {0};
    MPI_Init(&argc, &argv);
    int algorithm = argc > 5 ? a2av_by_name(argv[1]) : -1;
    int bytes = argc > 5 ? atoi(argv[4]) : -1, calls = argc > 5 ? atoi(argv[5]) : 0;
    if (algorithm < 0 || a2av_has_leaders((enum a2av_algorithm)algorithm) || bytes < 0 ||
        calls < 1 || vas_transport_open(&transport, MPI_COMM_WORLD)) {
        fprintf(stderr, "usage: many_ranks ALGORITHM RADIX DISTRIBUTION BYTES CALLS [SEED]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
        return 2;
    }
    settings.algorithm = (enum a2av_algorithm)algorithm;
    settings.radix = atoi(argv[2]);
    share(argv[3], bytes, argc > 6 ? strtoull(argv[6], NULL, 10) : 1, transport.base.size);
    struct a2av_state *state = a2av_state_new();
    /* As in bench: lengths are known after one call. */
    if (settings.algorithm == A2AV_SLOAV2)
        seconds_of(&transport, &settings, state, 1, &(struct a2av_counts){0});
    double seconds = seconds_of(&transport, &settings, state, calls, &sum);
    if (transport.base.rank == 0)
        print(&settings, seconds, &sum, (uint64_t)calls);
    vas_transport_close(&transport);
    a2av_state_free(state);
    MPI_Finalize();
    return 0;
}
