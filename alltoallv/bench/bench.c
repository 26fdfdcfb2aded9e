/* Times calls of one algorithm: on an MPI, or on SimGrid's simulated one.
 *
 *   bench ALGORITHM RADIX DISTRIBUTION BYTES CALLS [SEED [LEADERS]]
 *
 * ALGORITHM is one of the library's, `auto` for its choice, or `mpi` for the MPI's own. BYTES is
 * the largest block.
 * Prints a line of JSON: the slowest rank's seconds a call, all ranks' CPU seconds a call (0 where
 * it is simulated), what rank 0 sent in one call, and the calls before by which the library decided
 * who does the next ones, and how many. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "../mpi/call.h"
#include "sizes.h"

/* Calls before the timed ones. An algorithm that remembers lengths knows them after one call. One
 * that remembers nothing gets none: a thousand simulated ranks send a million messages in a linear
 * call. */
enum { WARM_CALLS = 1 };

struct job {
    MPI_Comm comm;
    int rank, ranks, calls;
    bool native;
    int warm_calls;
    struct vas_communicator *own;
    unsigned char *send, *receive;
    int *send_counts, *receive_counts, *send_at, *receive_at;
};

static int lay_out(int *counts, int *at, int ranks)
{
    int sum = 0;
    for (int i = 0; i < ranks; i++) {
        at[i] = sum;
        sum += counts[i];
    }
    return sum;
}

/* Returns zeroed memory for blocks. SimGrid's ranks are in one process and nobody looks at the
 * blocks, so all of them use the same memory there, as large as the largest need. */
static unsigned char *room_for(struct job *job, int bytes)
{
#ifdef VAS_A2AV_SIMULATED
    unsigned char *shared = NULL;
    int most = 0;
    MPI_Allreduce(&bytes, &most, 1, MPI_INT, MPI_MAX, job->comm);
    if (job->rank == 0)
        shared = calloc((size_t)most + 1, 1);
    MPI_Bcast(&shared, (int)sizeof shared, MPI_BYTE, 0, job->comm);
    return shared;
#else
    (void)job;
    return calloc((size_t)bytes + 1, 1);
#endif
}

static void free_room(const struct job *job, unsigned char *room)
{
#ifdef VAS_A2AV_SIMULATED
    MPI_Barrier(job->comm);
    if (job->rank > 0)
        return;
#endif
    (void)job;
    free(room);
}

static void prepare(struct job *job, const char *distribution, int bytes, uint64_t seed)
{
    size_t n = (size_t)job->ranks;
    job->send_counts = malloc(n * sizeof(int));
    job->receive_counts = malloc(n * sizeof(int));
    job->send_at = malloc(n * sizeof(int));
    job->receive_at = malloc(n * sizeof(int));
    for (int i = 0; i < job->ranks; i++) {
        job->send_counts[i] = size_of(distribution, bytes, seed, job->rank, i, job->ranks);
        job->receive_counts[i] = size_of(distribution, bytes, seed, i, job->rank, job->ranks);
    }
    job->send = room_for(job, lay_out(job->send_counts, job->send_at, job->ranks));
    job->receive = room_for(job, lay_out(job->receive_counts, job->receive_at, job->ranks));
}

static void call(struct job *job)
{
    MPI_Datatype type = MPI_BYTE;
    struct vas_side send = {job->send, job->send_counts, job->send_at, &type, false, false};
    struct vas_side receive = {job->receive, job->receive_counts, job->receive_at, &type, false,
                               false};
    if (vas_call(job->own, &send, &receive, job->comm))
        MPI_Abort(job->comm, 1);
}

/* Returns the CPU seconds of this rank; 0 under SimGrid, whose ranks share a process. */
static double cpu_seconds(void)
{
#ifdef VAS_A2AV_SIMULATED
    return 0;
#else
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
#endif
}

/* Times calls as OSU's benchmark does: a barrier, then calls in a row. Returns the slowest
 * rank's seconds, and sets the CPU seconds of all ranks together. */
static double seconds_of(struct job *job, int calls, double *cpu)
{
    double mine, used, slowest = 0;
    MPI_Barrier(job->comm);
    mine = MPI_Wtime();
    used = cpu_seconds();
    for (int i = 0; i < calls; i++)
        call(job);
    mine = MPI_Wtime() - mine;
    used = cpu_seconds() - used;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, job->comm);
    MPI_Allreduce(&used, cpu, 1, MPI_DOUBLE, MPI_SUM, job->comm);
    return slowest;
}

/* The algorithm that did the timed calls: one of the library's, or MPI's own function. */
struct used {
    const char *name;
    int radix, leaders;
};

static struct used used_by(const struct job *job)
{
    if (job->native || (job->own->settings.chooses && !job->own->turns.core))
        return (struct used){"mpi", 0, 0};
    const struct a2av_settings *settings = &job->own->settings.core;
    return (struct used){a2av_name(settings->algorithm), settings->radix, settings->leaders};
}

/* The calls by which the library decides who does the next ones. */
struct decision {
    int calls, left; /* left: calls until it decides again */
    double seconds;
};

static struct decision decide(struct job *job)
{
    struct decision decision = {0};
    double cpu;
    if (!job->own || !job->own->settings.chooses)
        return decision;
    do {
        decision.seconds += seconds_of(job, 1, &cpu);
        decision.calls++;
    } while (job->own->turns.tries);
    decision.left = job->own->turns.left;
    return decision;
}

static void measure(struct job *job, char **argv)
{
    double cpu = 0;
    struct decision decision = decide(job);
    if (job->warm_calls > 0)
        seconds_of(job, job->warm_calls, &cpu);
    struct a2av_counts before = job->native ? (struct a2av_counts){0} : job->own->totals.counts;
    double seconds = seconds_of(job, job->calls, &cpu);
    struct a2av_counts after = job->native ? (struct a2av_counts){0} : job->own->totals.counts;
    uint64_t calls = (uint64_t)job->calls;
    struct used used = used_by(job);
    if (job->rank == 0)
        printf("{\"algorithm\": \"%s\", \"used\": \"%s\", \"used_radix\": %d, "
               "\"used_leaders\": %d, \"radix\": %s, \"distribution\": \"%s\", \"bytes\": %s, "
               "\"ranks\": %d, \"seconds\": %.9f, \"cpu_seconds\": %.9f, \"messages\": %" PRIu64
               ", \"payload_bytes\": %" PRIu64 ", \"metadata_bytes\": %" PRIu64
               ", \"scratch_bytes\": %" PRIu64 ", \"decision\": {\"calls\": %d, \"seconds\": %.9f, "
               "\"left\": %d}}\n",
               argv[1], used.name, used.radix, used.leaders, argv[2], argv[3], argv[4], job->ranks,
               seconds / job->calls, cpu / job->calls,
               (after.messages - before.messages) / calls,
               (after.payload_bytes - before.payload_bytes) / calls,
               (after.metadata_bytes - before.metadata_bytes) / calls, after.scratch_bytes,
               decision.calls, decision.seconds, decision.left);
}

int main(int argc, char **argv)
{
    struct job job = {.comm = MPI_COMM_NULL};
    MPI_Init(&argc, &argv);
    int algorithm = argc > 5 ? a2av_by_name(argv[1]) : -1;
    job.native = argc > 5 && strcmp(argv[1], "mpi") == 0;
    job.calls = argc > 5 ? atoi(argv[5]) : 0;
    bool chooses = argc > 5 && strcmp(argv[1], "auto") == 0;
    bool remembers = algorithm == A2AV_SLOAV2 || a2av_has_leaders((enum a2av_algorithm)algorithm);
    job.warm_calls = remembers ? WARM_CALLS : 0;
    if (job.calls < 1 || (algorithm < 0 && !job.native && !chooses) || atoi(argv[4]) < 0) {
        fprintf(stderr, "usage: bench ALGORITHM RADIX DISTRIBUTION BYTES CALLS [SEED [LEADERS]]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    job.comm = MPI_COMM_WORLD;
    MPI_Comm_rank(job.comm, &job.rank);
    MPI_Comm_size(job.comm, &job.ranks);
    struct vas_settings settings = {.core = a2av_default_settings(), .min_ranks = 1};
    if (!job.native) {
        settings.chooses = chooses;
        if (!chooses)
            settings.core.algorithm = (enum a2av_algorithm)algorithm;
        settings.core.radix = atoi(argv[2]);
        settings.core.leaders = argc > 7 ? atoi(argv[7]) : settings.core.leaders;
        job.own = vas_communicator_new(job.comm, &settings);
        if (!job.own || job.own->passes)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    prepare(&job, argv[3], atoi(argv[4]), argc > 6 ? strtoull(argv[6], NULL, 10) : 1);
    measure(&job, argv);
    if (job.own)
        vas_communicator_free(job.own);
    free_room(&job, job.send), free_room(&job, job.receive);
    free(job.send_counts), free(job.receive_counts), free(job.send_at), free(job.receive_at);
    MPI_Finalize();
    return 0;
}
