/* Nanoseconds that a cache line takes from one CPU to another: two pinned threads count it up in
 * turn. Prints a line for each sample: half of a round trip's mean over ROUNDS of them.
 *
 * usage: pingpong CPU CPU ROUNDS SAMPLES
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Each has a pair of lines of its own: the adjacent-line prefetcher moves two at a time. */
static _Alignas(128) _Atomic unsigned long ball;
static _Alignas(128) int cpus[2];
static unsigned long turns;

static void pin(int cpu)
{
    cpu_set_t *set = CPU_ALLOC(cpu + 1);
    if (set == NULL)
        exit(1);
    size_t size = CPU_ALLOC_SIZE(cpu + 1);
    CPU_ZERO_S(size, set);
    CPU_SET_S(cpu, size, set);
    if (sched_setaffinity(0, size, set) != 0) {
        fprintf(stderr, "CPU %d: %s\n", cpu, strerror(errno));
        exit(2);
    }
    CPU_FREE(set);
}

static void *answer(void *unused)
{
    (void)unused;
    pin(cpus[1]);
    for (unsigned long turn = 1; turn < turns; turn += 2) {
        while (atomic_load_explicit(&ball, memory_order_acquire) != turn)
            ;
        atomic_store_explicit(&ball, turn + 1, memory_order_release);
    }
    return NULL;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(int count, char **words)
{
    if (count != 5)
        return 2;
    cpus[0] = atoi(words[1]);
    cpus[1] = atoi(words[2]);
    unsigned long rounds = strtoul(words[3], NULL, 10), samples = strtoul(words[4], NULL, 10);
    turns = 2 * rounds * (samples + 1);
    pin(cpus[0]);
    pthread_t other;
    if (pthread_create(&other, NULL, answer, NULL) != 0)
        return 1;
    unsigned long turn = 0;
    for (unsigned long sample = 0; sample <= samples; sample++) {
        double start = now();
        for (unsigned long round = 0; round < rounds; round++, turn += 2) {
            atomic_store_explicit(&ball, turn + 1, memory_order_release);
            while (atomic_load_explicit(&ball, memory_order_acquire) != turn + 2)
                ;
        }
        if (sample > 0) /* the first warms up, and waits for the other thread to start */
            printf("%.2f\n", (now() - start) / (double)rounds / 2);
    }
    return pthread_join(other, NULL) != 0;
}
