// A ring of stages, each a thread, that hand messages on: by pipes or by futexes.
//
//   pipeline STAGES SECONDS pipe|futex MESSAGES BYTES [CPU,CPU,...]
//
// MESSAGES are under way at once; a stage reads and writes all BYTES of each. With a list of CPUs
// stage n stays on the n-th. Prints a line for each count, NAME VALUE: how often a stage took a
// message on another CPU than the one before, per second, and the share of messages that the next
// stage took on another memory node. Its last line is how many messages went once around, per second.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_STAGES = 256, MOST_MESSAGES = 1024 };

static const double warm_up_seconds = 0.2;

struct stage {
    int cpu;  // or -1
    // What comes in: a pipe, or a queue for one writer and one reader.
    int reads, writes;
    sem_t filled;
    int queue[MOST_MESSAGES];
    unsigned head, tail;
    pthread_t thread;
    atomic_ulong taken, crossed, moved;
};

static struct stage stages[MOST_STAGES];
static int stage_count, message_count, by_pipe;
static size_t message_words;
static unsigned long *payload[MOST_MESSAGES];
static unsigned left_node[MOST_MESSAGES];  // the memory node of the stage that had it last
static atomic_ulong rounds;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void put(struct stage *to, int message) {
    if (by_pipe) {
        if (write(to->writes, &message, sizeof message) != sizeof message) fail("write");
        return;
    }
    to->queue[to->tail++ % MOST_MESSAGES] = message;
    if (sem_post(&to->filled) != 0) fail("sem_post");
}

static int take(struct stage *from) {
    int message;
    if (by_pipe) {
        if (read(from->reads, &message, sizeof message) != sizeof message) fail("read");
        return message;
    }
    while (sem_wait(&from->filled) != 0) continue;
    return from->queue[from->head++ % MOST_MESSAGES];
}

// Only the stage itself writes its counts.
static void count(atomic_ulong *of) {
    atomic_store_explicit(of, atomic_load_explicit(of, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

static void *work(void *argument) {
    struct stage *self = argument;
    int number = (int)(self - stages);
    struct stage *next = &stages[(number + 1) % stage_count];
    char name[16];
    snprintf(name, sizeof name, "stage-%d", number);
    pthread_setname_np(pthread_self(), name);
    if (self->cpu >= 0) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(self->cpu, &one);
        if (sched_setaffinity(0, sizeof one, &one) != 0) fail("sched_setaffinity");
    }
    unsigned last_cpu, cpu, node;
    if (getcpu(&last_cpu, &node) != 0) fail("getcpu");
    for (;;) {
        int message = take(self);
        if (getcpu(&cpu, &node) != 0) fail("getcpu");
        if (cpu != last_cpu) count(&self->moved);
        if (left_node[message] != node) count(&self->crossed);
        count(&self->taken);
        last_cpu = cpu;
        for (size_t word = 0; word < message_words; word++)
            payload[message][word] = payload[message][word] * 31 + (unsigned long)number;
        if (number == stage_count - 1) atomic_fetch_add(&rounds, 1);
        left_node[message] = node;
        put(next, message);
    }
    return NULL;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void rest(double seconds) {
    struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&time, &time) != 0) continue;
}

static void make(int number, int cpu) {
    struct stage *stage = &stages[number];
    int ends[2];
    stage->cpu = cpu;
    if (sem_init(&stage->filled, 0, 0) != 0) fail("sem_init");
    if (by_pipe) {
        if (pipe(ends) != 0) fail("pipe");
        stage->reads = ends[0];
        stage->writes = ends[1];
    }
}

struct counts {
    unsigned long taken, crossed, moved;
};

static struct counts all_counts(void) {
    struct counts all = {0};
    for (int n = 0; n < stage_count; n++) {
        all.taken += atomic_load(&stages[n].taken);
        all.crossed += atomic_load(&stages[n].crossed);
        all.moved += atomic_load(&stages[n].moved);
    }
    return all;
}

static void measure(double seconds) {
    rest(warm_up_seconds);
    double started = now();
    unsigned long rounds_before = atomic_load(&rounds);
    struct counts before = all_counts();
    rest(seconds);
    double took = now() - started;
    unsigned long rounds_after = atomic_load(&rounds);
    struct counts after = all_counts();
    unsigned long taken = after.taken - before.taken;
    printf("migrations_per_second %.3f\n", (double)(after.moved - before.moved) / took);
    if (taken > 0)
        printf("cross_node_share %.4f\n", (double)(after.crossed - before.crossed) / (double)taken);
    printf("%.2f\n", (double)(rounds_after - rounds_before) / took);
    fflush(stdout);
}

int main(int argc, char **words) {
    if (argc < 6) {
        fprintf(stderr, "usage: pipeline STAGES SECONDS pipe|futex MESSAGES BYTES [CPU,...]\n");
        return 2;
    }
    stage_count = atoi(words[1]);
    double seconds = atof(words[2]);
    by_pipe = strcmp(words[3], "pipe") == 0;
    message_count = atoi(words[4]);
    message_words = (size_t)atol(words[5]) / sizeof(unsigned long);
    char *cpus = argc > 6 ? words[6] : NULL;
    if (stage_count < 1 || stage_count > MOST_STAGES || message_count < 1 ||
        message_count > MOST_MESSAGES || seconds <= 0) {
        fprintf(stderr, "pipeline: a number is out of bounds\n");
        return 2;
    }
    for (int n = 0; n < stage_count; n++) {
        char *cpu = cpus ? strtok(n == 0 ? cpus : NULL, ",") : NULL;
        make(n, cpu ? atoi(cpu) : -1);
    }
    for (int n = 0; n < message_count; n++)
        if (!(payload[n] = calloc(message_words + 1, sizeof(unsigned long)))) fail("calloc");
    // Before the threads: a queue has one writer.
    for (int n = 0; n < message_count; n++) put(&stages[0], n);
    for (int n = 0; n < stage_count; n++)
        if (pthread_create(&stages[n].thread, NULL, work, &stages[n]) != 0) fail("pthread_create");
    measure(seconds);
    _exit(0);
}
