/* Runs a bucket sort of integers in the manner of NAS IS, in code of its own: in each of ROUNDS
 * rounds the ranks count their keys by bucket, agree who gets which buckets, exchange counts and
 * keys, and rank what they got.
 *
 *   bucket_sort ALGORITHM RADIX KEYS_LOG2 KEY_BITS BUCKETS_LOG2 LEADERS ROUNDS CALLS
 *
 * NAS IS has 16, 11 and 9 for class S, 20, 16 and 10 for class W. With "both" for CALLS the
 * algorithm serves MPI_Alltoall and MPI_Alltoallv, as it does for a program that preloads the
 * library; with "alltoallv" MPI's own function exchanges the counts. Prints a line of JSON:
 * seconds, millions of keys a second. Under SimGrid a key costs 2 ns a pass. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../mpi/call.h"
#include "../oracle/random.h"

/* NAS IS reduces the ranks of five keys that it checks together with the sizes of buckets. */
enum { BUCKETS_LOG2_MOST = 10, CHECKED = 5, NANOSECONDS_A_KEY = 2 };
enum { REDUCED_MOST = (1 << BUCKETS_LOG2_MOST) + CHECKED };

struct sort {
    int rank, ranks, bits, buckets_log2, keys, received, rounds;
    bool native, both;
    struct vas_communicator *own;
    int *key, *sorted, *in, *ranked; /* ranked: how often each key came */
    int *out_counts, *in_counts, *out_at, *in_at, *ones, *steps;
    int mine[REDUCED_MOST], all[REDUCED_MOST], owner[REDUCED_MOST];
};

static void compute(int keys)
{
#ifdef VAS_A2AV_SIMULATED
    smpi_execute(keys * NANOSECONDS_A_KEY * 1e-9);
#else
    (void)keys;
#endif
}

static int bucket_of(const struct sort *sort, int key)
{
    return key >> (sort->bits - sort->buckets_log2);
}

/* Makes keys that are sums of four uniform numbers, as those of NAS IS are: the middle buckets
 * are full. */
static void make_keys(struct sort *sort)
{
    struct dice dice = dice_of(314159, (uint64_t)sort->rank, 0);
    for (int i = 0; i < sort->keys; i++) {
        long long sum = 0;
        for (int j = 0; j < 4; j++)
            sum += dice_below(&dice, 1 << sort->bits);
        sort->key[i] = (int)(sum / 4);
    }
}

static int sum_up(const int *counts, int *at, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        at[i] = sum;
        sum += counts[i];
    }
    return sum;
}

/* Counts keys by bucket; gives each rank buckets of about equal sums; sorts keys by owner. */
static void share_buckets(struct sort *sort, long long total)
{
    int buckets = 1 << sort->buckets_log2;
    memset(sort->mine, 0, sizeof sort->mine);
    for (int i = 0; i < sort->keys; i++)
        sort->mine[bucket_of(sort, sort->key[i])]++;
    compute(sort->keys);
    MPI_Allreduce(sort->mine, sort->all, buckets + CHECKED, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    long long before = 0;
    memset(sort->out_counts, 0, (size_t)sort->ranks * sizeof(int));
    for (int i = 0; i < buckets; before += sort->all[i++]) {
        /* The last buckets may be empty. */
        sort->owner[i] = before < total ? (int)(before * sort->ranks / total) : sort->ranks - 1;
        sort->out_counts[sort->owner[i]] += sort->mine[i];
    }
    sum_up(sort->out_counts, sort->out_at, sort->ranks);
    int *next = malloc((size_t)sort->ranks * sizeof *next);
    memcpy(next, sort->out_at, (size_t)sort->ranks * sizeof *next);
    for (int i = 0; i < sort->keys; i++)
        sort->sorted[next[sort->owner[bucket_of(sort, sort->key[i])]]++] = sort->key[i];
    free(next);
    compute(sort->keys);
}

/* Exchanges one count between each two ranks, as VAS_Alltoall does it (mpi/alltoall.c). */
static void exchange_counts(struct sort *sort)
{
    MPI_Datatype type = MPI_INT;
    struct vas_communicator *own = sort->both ? sort->own : NULL;
    bool core = own && vas_equal_call_serves(own, (MPI_Count)sizeof(int));
    struct vas_side send = {sort->out_counts, sort->ones, sort->steps, &type, false, false};
    struct vas_side receive = {sort->in_counts, sort->ones, sort->steps, &type, false, false};
    int error = core ? vas_communicator_run(own, own->equal_state, &own->equal_settings, &send,
                                            &receive, MPI_COMM_WORLD)
                     : PMPI_Alltoall(sort->out_counts, 1, type, sort->in_counts, 1, type,
                                     MPI_COMM_WORLD);
    if (error || (own && vas_equal_call_ended(own)))
        MPI_Abort(MPI_COMM_WORLD, 1);
}

static void exchange_keys(struct sort *sort)
{
    MPI_Datatype type = MPI_INT;
    struct vas_side send = {sort->sorted, sort->out_counts, sort->out_at, &type, false, false};
    struct vas_side receive = {sort->in, sort->in_counts, sort->in_at, &type, false, false};
    if (vas_call(sort->own, &send, &receive, MPI_COMM_WORLD))
        MPI_Abort(MPI_COMM_WORLD, 1);
}

static void sort_once(struct sort *sort, long long total)
{
    share_buckets(sort, total);
    exchange_counts(sort);
    sort->received = sum_up(sort->in_counts, sort->in_at, sort->ranks);
    sort->in = realloc(sort->in, (size_t)(sort->received + 1) * sizeof *sort->in);
    exchange_keys(sort);
    memset(sort->ranked, 0, sizeof(int) << sort->bits);
    for (int i = 0; i < sort->received; i++)
        sort->ranked[sort->in[i]]++;
    compute(sort->received);
}

/* Tells whether every key is at the owner of its bucket, and none is lost. */
static bool is_sorted(const struct sort *sort, long long total)
{
    long long counted = sort->received, all = 0;
    int good = 1, everywhere = 0;
    for (int i = 0; i < sort->received; i++)
        good = good && sort->owner[bucket_of(sort, sort->in[i])] == sort->rank;
    MPI_Allreduce(&counted, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&good, &everywhere, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return everywhere && all == total;
}

static void prepare(struct sort *sort, int keys_log2)
{
    size_t n = (size_t)sort->ranks;
    sort->keys = (1 << keys_log2) / sort->ranks;
    sort->key = malloc((size_t)(sort->keys + 1) * sizeof(int));
    sort->sorted = malloc((size_t)(sort->keys + 1) * sizeof(int));
    sort->ranked = malloc(sizeof(int) << sort->bits);
    sort->out_counts = malloc(n * sizeof(int));
    sort->in_counts = malloc(n * sizeof(int));
    sort->out_at = malloc(n * sizeof(int));
    sort->in_at = malloc(n * sizeof(int));
    sort->ones = malloc(n * sizeof(int));
    sort->steps = malloc(n * sizeof(int));
    for (int i = 0; i < sort->ranks; i++) {
        sort->ones[i] = 1;
        sort->steps[i] = i;
    }
    make_keys(sort);
}

static void run(struct sort *sort, char **argv)
{
    prepare(sort, atoi(argv[3]));
    long long total = (long long)sort->keys * sort->ranks;
    sort_once(sort, total);
    MPI_Barrier(MPI_COMM_WORLD);
    double started = MPI_Wtime();
    for (int i = 0; i < sort->rounds; i++)
        sort_once(sort, total);
    double mine = MPI_Wtime() - started, seconds = 0;
    MPI_Allreduce(&mine, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    bool good = is_sorted(sort, total);
    if (sort->rank == 0)
        printf("{\"algorithm\": \"%s\", \"radix\": %s, \"ranks\": %d, \"rounds\": %d, "
               "\"sorted\": %s, \"seconds\": %.9f, \"mops\": %.3f}\n",
               argv[1], argv[2], sort->ranks, sort->rounds, good ? "true" : "false", seconds,
               sort->rounds * (double)total / seconds / 1e6);
}

/* Returns whether the arguments can be used, and takes those of the sort itself. */
static bool take(struct sort *sort, int argc, char **argv, int algorithm, bool chooses)
{
    if (argc != 9)
        return false;
    sort->native = strcmp(argv[1], "mpi") == 0;
    sort->bits = atoi(argv[4]);
    sort->buckets_log2 = atoi(argv[5]);
    sort->rounds = atoi(argv[7]);
    sort->both = strcmp(argv[8], "both") == 0;
    return (algorithm >= 0 || chooses || sort->native) && atoi(argv[3]) <= 28 &&
           sort->bits <= 24 && sort->bits >= sort->buckets_log2 && sort->buckets_log2 >= 1 &&
           sort->buckets_log2 <= BUCKETS_LOG2_MOST && sort->rounds >= 1 &&
           (sort->both || strcmp(argv[8], "alltoallv") == 0);
}

int main(int argc, char **argv)
{
    struct sort *sort = calloc(1, sizeof *sort);
    MPI_Init(&argc, &argv);
    int algorithm = argc > 1 ? a2av_by_name(argv[1]) : -1;
    bool chooses = argc > 1 && strcmp(argv[1], "auto") == 0;
    if (!take(sort, argc, argv, algorithm, chooses)) {
        fprintf(stderr, "usage: bucket_sort ALGORITHM RADIX KEYS_LOG2 KEY_BITS BUCKETS_LOG2 "
                        "LEADERS ROUNDS both|alltoallv\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &sort->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &sort->ranks);
    struct vas_settings settings = {.core = a2av_default_settings(), .min_ranks = 1};
    settings.chooses = chooses;
    settings.core.radix = atoi(argv[2]);
    settings.core.leaders = atoi(argv[6]);
    if (algorithm >= 0)
        settings.core.algorithm = (enum a2av_algorithm)algorithm;
    if (!sort->native)
        sort->own = vas_communicator_new(MPI_COMM_WORLD, &settings);
    run(sort, argv);
    if (sort->own)
        vas_communicator_free(sort->own);
    free(sort->key), free(sort->sorted), free(sort->in), free(sort->ranked);
    free(sort->out_counts), free(sort->in_counts), free(sort->out_at), free(sort->in_at);
    free(sort->ones), free(sort->steps);
    free(sort);
    MPI_Finalize();
    return 0;
}
