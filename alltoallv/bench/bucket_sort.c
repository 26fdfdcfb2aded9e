/* Runs a bucket sort of integers in the manner of NAS IS, in code of its own: in each of ROUNDS
 * rounds, ten by default, the ranks count their keys by bucket, agree who gets which buckets,
 * exchange counts and keys, and rank what they got.
 *
 *   bucket_sort ALGORITHM RADIX KEYS_LOG2 KEY_BITS [LEADERS [ROUNDS]]
 *
 * Class S has 16 and 11, class W 20 and 16. Only the exchange of keys is the algorithm's. Prints a
 * line of JSON: seconds, millions of keys a second. Under SimGrid a key costs 2 ns a pass. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../mpi/communicator.h"
#include "../oracle/random.h"

enum { BUCKETS_LOG2 = 10, BUCKETS = 1 << BUCKETS_LOG2, NANOSECONDS_A_KEY = 2 };

struct sort {
    int rank, ranks, bits, keys, received, rounds;
    bool native;
    struct vas_communicator *own;
    int *key, *sorted, *in, *ranked; /* ranked: how often each key came */
    int *out_counts, *in_counts, *out_at, *in_at;
    int mine[BUCKETS], all[BUCKETS], owner[BUCKETS];
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
    return sort->bits > BUCKETS_LOG2 ? key >> (sort->bits - BUCKETS_LOG2) : key;
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
    memset(sort->mine, 0, sizeof sort->mine);
    for (int i = 0; i < sort->keys; i++)
        sort->mine[bucket_of(sort, sort->key[i])]++;
    compute(sort->keys);
    MPI_Allreduce(sort->mine, sort->all, BUCKETS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    long long before = 0;
    memset(sort->out_counts, 0, (size_t)sort->ranks * sizeof(int));
    for (int i = 0; i < BUCKETS; before += sort->all[i++]) {
        sort->owner[i] = (int)(before * sort->ranks / total);
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

static void exchange_keys(struct sort *sort)
{
    MPI_Datatype type = MPI_INT;
    if (sort->native || !vas_communicator_serves(sort->own)) {
        PMPI_Alltoallv(sort->sorted, sort->out_counts, sort->out_at, type, sort->in,
                       sort->in_counts, sort->in_at, type, MPI_COMM_WORLD);
        return;
    }
    struct vas_side send = {sort->sorted, sort->out_counts, sort->out_at, &type, false, false};
    struct vas_side receive = {sort->in, sort->in_counts, sort->in_at, &type, false, false};
    if (vas_communicator_exchange(sort->own, &send, &receive, MPI_COMM_WORLD))
        MPI_Abort(MPI_COMM_WORLD, 1);
}

static void sort_once(struct sort *sort, long long total)
{
    share_buckets(sort, total);
    MPI_Alltoall(sort->out_counts, 1, MPI_INT, sort->in_counts, 1, MPI_INT, MPI_COMM_WORLD);
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
        printf("{\"algorithm\": \"%s\", \"ranks\": %d, \"sorted\": %s, \"seconds\": %.9f, "
               "\"mops\": %.3f}\n",
               argv[1], sort->ranks, good ? "true" : "false", seconds,
               sort->rounds * (double)total / seconds / 1e6);
}

int main(int argc, char **argv)
{
    struct sort *sort = calloc(1, sizeof *sort);
    MPI_Init(&argc, &argv);
    int algorithm = argc > 4 ? a2av_by_name(argv[1]) : -1;
    bool chooses = argc > 4 && strcmp(argv[1], "auto") == 0;
    sort->native = argc > 4 && strcmp(argv[1], "mpi") == 0;
    sort->bits = argc > 4 ? atoi(argv[4]) : 0;
    sort->rounds = argc > 6 ? atoi(argv[6]) : 10;
    if (sort->bits < BUCKETS_LOG2 || sort->bits > 24 || atoi(argv[3]) > 28 ||
        sort->rounds < 1 || (algorithm < 0 && !chooses && !sort->native)) {
        fprintf(stderr, "usage: bucket_sort ALGORITHM RADIX KEYS_LOG2 KEY_BITS [LEADERS [ROUNDS]]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &sort->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &sort->ranks);
    struct vas_settings settings = {.core = a2av_default_settings(), .min_ranks = 1};
    settings.chooses = chooses;
    settings.core.radix = atoi(argv[2]);
    settings.core.leaders = argc > 5 ? atoi(argv[5]) : settings.core.leaders;
    if (algorithm >= 0)
        settings.core.algorithm = (enum a2av_algorithm)algorithm;
    if (!sort->native)
        sort->own = vas_communicator_new(MPI_COMM_WORLD, &settings);
    run(sort, argv);
    if (sort->own)
        vas_communicator_free(sort->own);
    free(sort->key), free(sort->sorted), free(sort->in), free(sort->ranked);
    free(sort->out_counts), free(sort->in_counts), free(sort->out_at), free(sort->in_at);
    free(sort);
    MPI_Finalize();
    return 0;
}
