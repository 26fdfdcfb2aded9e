/* Measures what the model needs to know of a machine, between the first two ranks, and prints it
 * as the lines of the file that mpi/network.c reads. It runs best on two nodes.
 *
 *   mpiexec -n 2 tune */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 20, FLOOD = 64, LARGE = 1 << 20, BLOCK = 16 * 1024, TURNS = 1000 };

struct pair {
    int rank, other;
    unsigned char *out, *in;
};

/* Returns half of a round trip in seconds: the least of several tries, as other work only adds
 * time. */
static double half_trip(const struct pair *pair, int bytes, int trips)
{
    double least = 1e9;
    for (int try = 0; try < TRIES; try++) {
        double started = MPI_Wtime();
        for (int i = 0; i < trips; i++) {
            if (pair->rank == 0)
                MPI_Send(pair->out, bytes, MPI_BYTE, pair->other, 1, MPI_COMM_WORLD);
            MPI_Recv(pair->in, bytes, MPI_BYTE, pair->other, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            if (pair->rank == 1)
                MPI_Send(pair->out, bytes, MPI_BYTE, pair->other, 1, MPI_COMM_WORLD);
        }
        double seconds = (MPI_Wtime() - started) / (2.0 * trips);
        least = seconds < least ? seconds : least;
    }
    return least;
}

/* Returns the seconds of one end for a message, where many are under way both ways. */
static double overhead(const struct pair *pair)
{
    MPI_Request requests[2 * FLOOD];
    MPI_Status statuses[2 * FLOOD];
    double least = 1e9;
    for (int try = 0; try < TRIES; try++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double started = MPI_Wtime();
        for (int i = 0; i < FLOOD; i++)
            MPI_Irecv(pair->in + i, 1, MPI_BYTE, pair->other, 2, MPI_COMM_WORLD, &requests[i]);
        for (int i = 0; i < FLOOD; i++)
            MPI_Isend(pair->out + i, 1, MPI_BYTE, pair->other, 2, MPI_COMM_WORLD,
                      &requests[FLOOD + i]);
        MPI_Waitall(2 * FLOOD, requests, statuses);
        double seconds = (MPI_Wtime() - started) / (2.0 * FLOOD);
        least = seconds < least ? seconds : least;
    }
    return least;
}

static double copy_byte(const struct pair *pair)
{
    double least = 1e9;
    for (int try = 0; try < TRIES; try++) {
        double started = MPI_Wtime();
        for (int at = 0; at < LARGE; at += BLOCK)
            memcpy(pair->in + at, pair->out + at, BLOCK);
        double seconds = (MPI_Wtime() - started) / LARGE;
        least = seconds < least ? seconds : least;
    }
    return least;
}

static void *answer(void *argument)
{
    _Atomic int *turn = argument;
    for (int i = 0; i < TURNS * TRIES; i++) {
        while (atomic_load(turn) != 2 * i + 1)
            sched_yield();
        atomic_store(turn, 2 * i + 2);
    }
    return NULL;
}

/* Returns the seconds until another thread sees a number in shared memory; 0 if no other thread
 * can be started. */
static double hand_over(void)
{
    _Atomic int turn = 0;
    pthread_t other;
    double least = 1e9;
    if (pthread_create(&other, NULL, answer, &turn))
        return 0;
    for (int try = 0, i = 0; try < TRIES; try++) {
        double started = MPI_Wtime();
        for (int end = i + TURNS; i < end; i++) {
            atomic_store(&turn, 2 * i + 1);
            while (atomic_load(&turn) != 2 * i + 2)
                sched_yield();
        }
        double seconds = (MPI_Wtime() - started) / (2.0 * TURNS);
        least = seconds < least ? seconds : least;
    }
    pthread_join(other, NULL);
    return least;
}

static void print_figures(double small, double large, double each, double copied, double local)
{
    double latency = small - 2 * each;
    double byte = (large - small) / LARGE;
    printf("overhead_ns = %.3f\n", each * 1e9);
    printf("latency_ns = %.3f\n", latency > 0 ? latency * 1e9 : 0);
    printf("byte_ps = %.3f\n", byte > 0 ? byte * 1e12 : 0);
    printf("copy_byte_ps = %.3f\n", copied * 1e12);
    printf("local_ns = %.3f\n", local * 1e9);
}

int main(int argc, char **argv)
{
    int ranks;
    struct pair pair;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &pair.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    pair.other = 1 - pair.rank;
    pair.out = calloc(LARGE, 1);
    pair.in = calloc(LARGE, 1);
    if (ranks != 2 || !pair.out || !pair.in) {
        fprintf(stderr, "tune: must run on two ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    double small = half_trip(&pair, 1, 200), large = half_trip(&pair, LARGE, 2);
    double each = overhead(&pair), copied = copy_byte(&pair);
    MPI_Barrier(MPI_COMM_WORLD);
    if (pair.rank == 0)
        print_figures(small, large, each, copied, hand_over());
    free(pair.out);
    free(pair.in);
    MPI_Finalize();
    return 0;
}
