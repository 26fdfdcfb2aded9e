/* Times calls of algorithms in turns: on an MPI, or on SimGrid's simulated one.
 *
 *   bench ARM[,ARM...] DISTRIBUTION BYTES CALLS [SEED [LEADERS [ROUNDS [NODE_RANKS]]]]
 *
 * An ARM is one of the library's algorithms, with `:RADIX` if need be, `auto` for its choice, or
 * `mpi` for the MPI's own. BYTES is the largest block. CALLS 0: as many calls a round as take about
 * a tenth of a second. No more than NODE_RANKS ranks of a machine are one node; 0 for all.
 * Prints a line of JSON for each arm of each round: the slowest rank's seconds a call, what rank 0
 * sent in one call, and, but for simulations, all ranks' CPU seconds and the packets that the
 * interfaces of all machines sent in a call, whoever sent them. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../mpi/call.h"
#include "sizes.h"

/* Calls before the timed ones. An algorithm that remembers lengths knows them after one call. The
 * library's choice needs as many as it takes to decide. The first calls on an MPI connect ranks. In a simulation nothing is connected, and an
 * algorithm that remembers nothing gets none: a thousand simulated ranks send a million messages
 * in a linear call. */
enum { WARM_CALLS = 1, WARM_CALLS_ON_MPI = 3 };
enum { TRIED_CALLS = 3, MOST_CALLS = 10000, NAME_BYTES = 16, MOST_ARMS = 64 };
static const double ROUND_SECONDS = 0.1;

struct arm {
    char name[NAME_BYTES];
    int radix, calls;
    bool native, chooses;
    enum a2av_algorithm algorithm;
    struct vas_communicator *own; /* NULL for MPI's own function */
    /* The calls by which the library decided who does the next ones, and how many those are. */
    int decision_calls, left;
    double decision_seconds;
};

struct job {
    MPI_Comm comm;
    int rank, ranks, calls, rounds, leaders, node_ranks;
    int place, machines; /* place: of this rank on its machine */
    double idle_packets; /* of no call: those of a barrier and of sums */
    bool crowded;        /* a machine has more ranks than cores */
    const char *distribution, *bytes;
    struct arm arms[MOST_ARMS];
    int arm_count;
    unsigned char *send, *receive;
    int *send_counts, *receive_counts, *send_at, *receive_at;
};

/* The cost of calls: the slowest rank's seconds, and what all ranks together used and sent. */
struct cost {
    double seconds, cpu_seconds, packets;
};

static int lay_out(int *counts, int *at, int ranks)
{
    long long sum = 0;
    for (int i = 0; i < ranks; i++) {
        at[i] = (int)sum;
        sum += counts[i];
        if (sum > INT_MAX) {
            fprintf(stderr, "bench: a rank's blocks have 2 GiB or more\n");
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
    }
    return (int)sum;
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

static void prepare(struct job *job, uint64_t seed)
{
    int bytes = atoi(job->bytes);
    size_t n = (size_t)job->ranks;
    job->send_counts = malloc(n * sizeof(int));
    job->receive_counts = malloc(n * sizeof(int));
    job->send_at = malloc(n * sizeof(int));
    job->receive_at = malloc(n * sizeof(int));
    for (int i = 0; i < job->ranks; i++) {
        job->send_counts[i] = size_of(job->distribution, bytes, seed, job->rank, i, job->ranks);
        job->receive_counts[i] = size_of(job->distribution, bytes, seed, i, job->rank, job->ranks);
    }
    job->send = room_for(job, lay_out(job->send_counts, job->send_at, job->ranks));
    job->receive = room_for(job, lay_out(job->receive_counts, job->receive_at, job->ranks));
}

static void call(const struct job *job, const struct arm *arm)
{
    MPI_Datatype type = MPI_BYTE;
    struct vas_side send = {job->send, job->send_counts, job->send_at, &type, false, false};
    struct vas_side receive = {job->receive, job->receive_counts, job->receive_at, &type, false,
                               false};
    if (vas_call(arm->own, &send, &receive, job->comm))
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

#ifndef VAS_A2AV_SIMULATED
/* Returns the packets that this machine's interfaces have sent to others; 0 for all ranks of the
 * machine but the first. */
static double sent_packets(const struct job *job)
{
    char line[512], name[64];
    unsigned long long packets, sum = 0;
    FILE *file = job->place == 0 ? fopen("/proc/net/dev", "r") : NULL;
    if (!file)
        return 0;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, " %63[^:]: %*u %*u %*u %*u %*u %*u %*u %*u %*u %llu", name, &packets) ==
                2 && strcmp(name, "lo") != 0)
            sum += packets;
    fclose(file);
    return (double)sum;
}
#endif

/* Times calls as OSU's benchmark does: a barrier, then calls in a row. */
static struct cost cost_of(const struct job *job, const struct arm *arm, int calls)
{
    double seconds, used;
    struct cost all = {0};
#ifndef VAS_A2AV_SIMULATED
    double packets = sent_packets(job);
#endif
    MPI_Barrier(job->comm);
    seconds = MPI_Wtime();
    used = cpu_seconds();
    for (int i = 0; i < calls; i++)
        call(job, arm);
    seconds = MPI_Wtime() - seconds;
    used = cpu_seconds() - used;
    MPI_Allreduce(&seconds, &all.seconds, 1, MPI_DOUBLE, MPI_MAX, job->comm);
    MPI_Allreduce(&used, &all.cpu_seconds, 1, MPI_DOUBLE, MPI_SUM, job->comm);
#ifndef VAS_A2AV_SIMULATED
    packets = sent_packets(job) - packets;
    MPI_Allreduce(&packets, &all.packets, 1, MPI_DOUBLE, MPI_SUM, job->comm);
#endif
    return all;
}

static int warm_calls(const struct arm *arm)
{
#ifdef VAS_A2AV_SIMULATED
    bool remembers = arm->algorithm == A2AV_SLOAV2 || a2av_has_leaders(arm->algorithm);
    return remembers && !arm->native && !arm->chooses ? WARM_CALLS : 0;
#else
    (void)arm;
    return WARM_CALLS_ON_MPI;
#endif
}

static void decide(const struct job *job, struct arm *arm)
{
    do {
        arm->decision_seconds += cost_of(job, arm, 1).seconds;
        arm->decision_calls++;
    } while (arm->own->turns.tries);
    arm->left = arm->own->turns.left;
}

/* Makes the calls of an arm that are not timed, and decides how many are in each round. */
static void warm_up(const struct job *job, struct arm *arm)
{
    int warm = warm_calls(arm);
    if (arm->chooses)
        decide(job, arm);
    if (warm > 0)
        cost_of(job, arm, warm);
    arm->calls = job->calls;
    if (job->calls > 0)
        return;
    double fitting = ROUND_SECONDS / cost_of(job, arm, TRIED_CALLS).seconds * TRIED_CALLS;
    arm->calls = fitting > MOST_CALLS ? MOST_CALLS : fitting > 1 ? (int)fitting : 1;
}

/* The algorithm that did the timed calls: one of the library's, or MPI's own function. */
struct used {
    const char *name;
    int radix, leaders;
};

static struct used used_by(const struct arm *arm)
{
    if (arm->native || (arm->own->settings.chooses && !arm->own->turns.core))
        return (struct used){"mpi", 0, 0};
    const struct a2av_settings *settings = &arm->own->settings.core;
    return (struct used){a2av_name(settings->algorithm), settings->radix, settings->leaders};
}

static struct a2av_counts counts_of(const struct arm *arm)
{
    return arm->own ? vas_totals_counts(&arm->own->totals) : (struct a2av_counts){0};
}

static void measure(const struct job *job, const struct arm *arm, int round)
{
    struct a2av_counts before = counts_of(arm);
    struct cost cost = cost_of(job, arm, arm->calls);
    struct a2av_counts after = counts_of(arm);
    uint64_t calls = (uint64_t)arm->calls;
    struct used used = used_by(arm);
    if (job->rank > 0)
        return;
    printf("{\"algorithm\": \"%s\", \"radix\": %d, \"used\": \"%s\", \"used_radix\": %d, "
           "\"used_leaders\": %d, \"distribution\": \"%s\", \"bytes\": %s, ",
           arm->name, arm->radix, used.name, used.radix, used.leaders, job->distribution,
           job->bytes);
    printf("\"ranks\": %d, \"machines\": %d, \"crowded\": %s, \"round\": %d, \"calls\": %d, ",
           job->ranks, job->machines, job->crowded ? "true" : "false", round, arm->calls);
    printf("\"seconds\": %.9f, \"cpu_seconds\": %.9f, \"packets\": %.3f, \"messages\": %" PRIu64
           ", \"payload_bytes\": %" PRIu64 ", \"metadata_bytes\": %" PRIu64
           ", \"scratch_bytes\": %" PRIu64,
           cost.seconds / arm->calls, cost.cpu_seconds / arm->calls,
           (cost.packets - job->idle_packets) / arm->calls,
           (after.messages - before.messages) / calls,
           (after.payload_bytes - before.payload_bytes) / calls,
           (after.metadata_bytes - before.metadata_bytes) / calls, after.scratch_bytes);
    printf(", \"decision\": {\"calls\": %d, \"seconds\": %.9f, \"left\": %d}}\n",
           arm->decision_calls, arm->decision_seconds, arm->left);
    fflush(stdout);
}

/* Counts the machines, and finds whether one has more ranks than cores. */
static void look_around(struct job *job)
{
#ifdef VAS_A2AV_SIMULATED
    (void)job;
#else
    MPI_Comm machine;
    int here, mine[2], all[2];
    MPI_Comm_split_type(job->comm, MPI_COMM_TYPE_SHARED, job->rank, MPI_INFO_NULL, &machine);
    MPI_Comm_rank(machine, &job->place);
    MPI_Comm_size(machine, &here);
    MPI_Comm_free(&machine);
    mine[0] = job->place == 0;
    mine[1] = here > sysconf(_SC_NPROCESSORS_ONLN);
    MPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, job->comm);
    job->machines = all[0];
    job->crowded = all[1] > 0;
#endif
}

/* Reads an arm such as `sloav2:4`, up to a comma or the end. Returns false for a name that is not
 * one. */
static bool read_arm(struct arm *arm, const char *text)
{
    int found;
    *arm = (struct arm){.radix = 2};
    if (sscanf(text, "%15[^:,]:%d", arm->name, &arm->radix) < 1 || arm->radix < 2)
        return false;
    arm->native = strcmp(arm->name, "mpi") == 0;
    arm->chooses = strcmp(arm->name, "auto") == 0;
    found = a2av_by_name(arm->name);
    arm->algorithm = found < 0 ? A2AV_LINEAR : (enum a2av_algorithm)found;
    return found >= 0 || arm->native || arm->chooses;
}

static bool read_job(struct job *job, int argc, char **argv)
{
    if (argc < 5)
        return false;
    for (const char *at = argv[1]; *at; at += strcspn(at, ","), at += *at == ',')
        if (job->arm_count == MOST_ARMS || !read_arm(&job->arms[job->arm_count++], at))
            return false;
    job->distribution = argv[2];
    job->bytes = argv[3];
    job->calls = atoi(argv[4]);
    job->leaders = argc > 6 ? atoi(argv[6]) : 2;
    job->rounds = argc > 7 ? atoi(argv[7]) : 1;
    job->node_ranks = argc > 8 ? atoi(argv[8]) : 0;
    return job->arm_count > 0 && atoi(job->bytes) >= 0 && job->calls >= 0 && job->rounds > 0 &&
           job->leaders > 0 && job->node_ranks >= 0;
}

static void open_arm(const struct job *job, struct arm *arm)
{
    struct vas_settings settings = {.core = a2av_default_settings(), .min_ranks = 1};
    if (arm->native)
        return;
    settings.chooses = arm->chooses;
    settings.node_ranks = job->node_ranks;
    if (!arm->chooses)
        settings.core.algorithm = arm->algorithm;
    settings.core.radix = arm->radix;
    settings.core.leaders = job->leaders;
    arm->own = vas_communicator_new(job->comm, &settings);
    if (!arm->own || arm->own->passes)
        MPI_Abort(job->comm, 1);
}

static void run_rounds(struct job *job)
{
    for (int i = 0; i < job->arm_count; i++)
        warm_up(job, &job->arms[i]);
#ifndef VAS_A2AV_SIMULATED
    job->idle_packets = cost_of(job, &job->arms[0], 0).packets;
#endif
    for (int round = 0; round < job->rounds; round++)
        for (int i = 0; i < job->arm_count; i++)
            measure(job, &job->arms[i], round);
}

int main(int argc, char **argv)
{
    struct job job = {.comm = MPI_COMM_NULL};
    MPI_Init(&argc, &argv);
    if (!read_job(&job, argc, argv)) {
        fprintf(stderr, "usage: bench ARM[:RADIX][,ARM...] DISTRIBUTION BYTES CALLS [SEED [LEADERS "
                        "[ROUNDS [NODE_RANKS]]]]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    job.comm = MPI_COMM_WORLD;
    MPI_Comm_rank(job.comm, &job.rank);
    MPI_Comm_size(job.comm, &job.ranks);
    look_around(&job);
    for (int i = 0; i < job.arm_count; i++)
        open_arm(&job, &job.arms[i]);
    prepare(&job, argc > 5 ? strtoull(argv[5], NULL, 10) : 1);
    run_rounds(&job);
    for (int i = 0; i < job.arm_count; i++)
        if (job.arms[i].own)
            vas_communicator_free(job.arms[i].own);
    free_room(&job, job.send), free_room(&job, job.receive);
    free(job.send_counts), free(job.receive_counts), free(job.send_at), free(job.receive_at);
    MPI_Finalize();
    return 0;
}
