/* Times what an algorithm does besides messages: lengths, copies and tables. A rank runs alone: it
 * receives what it sends, as all ranks of a call with equal blocks send the same lengths.
 *
 *   copies ALGORITHM RADIX RANKS BYTES CALLS
 *
 * Prints a line of JSON: the shortest CPU nanoseconds of a call, and the blocks that were copied in
 * it, each at its sender and at its receiver. No MPI is needed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../core/a2av.h"

enum { LETTERS = 64, LARGEST = 1 << 20 };

struct letter {
    unsigned char *bytes;
    size_t count;
    int tag;
    bool full;
};

/* A transport that returns each message to its sender. */
struct loop {
    struct a2av_transport base;
    struct letter letter[LETTERS];
    struct {
        void *bytes;
        size_t room;
        int tag;
    } wanted[LETTERS];
    int next;
    size_t blocks;
};

static int post(struct a2av_transport *base, const void *bytes, size_t count, int to, int tag,
                int *ticket)
{
    struct loop *loop = (struct loop *)base;
    (void)to;
    *ticket = -1;
    for (int i = 0; i < LETTERS; i++)
        if (!loop->letter[i].full) {
            memcpy(loop->letter[i].bytes, bytes, count);
            loop->letter[i].count = count;
            loop->letter[i].tag = tag;
            loop->letter[i].full = true;
            return 0;
        }
    return A2AV_NO_MEMORY;
}

static int want(struct a2av_transport *base, void *bytes, size_t room, int from, int tag,
                int *ticket)
{
    struct loop *loop = (struct loop *)base;
    (void)from;
    *ticket = loop->next++ % LETTERS;
    loop->wanted[*ticket].bytes = bytes;
    loop->wanted[*ticket].room = room;
    loop->wanted[*ticket].tag = tag;
    return 0;
}

static int take(struct a2av_transport *base, int ticket, size_t *received)
{
    struct loop *loop = (struct loop *)base;
    for (int i = 0; ticket >= 0 && i < LETTERS; i++) {
        struct letter *letter = &loop->letter[i];
        if (!letter->full || letter->tag != loop->wanted[ticket].tag)
            continue;
        if (letter->count > loop->wanted[ticket].room)
            return A2AV_WRONG_SIZE;
        memcpy(loop->wanted[ticket].bytes, letter->bytes, letter->count);
        letter->full = false;
        if (received)
            *received = letter->count;
        return 0;
    }
    return ticket < 0 ? 0 : A2AV_BAD_MESSAGE;
}

static void count(struct a2av_transport *base, size_t blocks, size_t bytes)
{
    (void)bytes;
    ((struct loop *)base)->blocks += blocks;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Runs calls, and returns the shortest of them in nanoseconds; below 0 after an error. */
static double shortest(struct loop *loop, const struct a2av_settings *settings, int bytes, int calls)
{
    size_t n = (size_t)loop->base.size, size = (size_t)bytes;
    unsigned char *out = calloc(n, size + 1), *in = calloc(n, size + 1);
    const unsigned char **send = calloc(n, sizeof *send);
    unsigned char **receive = calloc(n, sizeof *receive);
    size_t *counts = calloc(n, sizeof *counts);
    for (size_t i = 0; i < n; i++) {
        send[i] = out + i * size;
        receive[i] = in + i * size;
        counts[i] = size;
    }
    struct a2av_job job = {send, counts, receive, counts};
    struct a2av_state *state = a2av_state_new();
    struct a2av_counts counted;
    double best = -1;
    for (int i = 0; i < calls; i++) {
        double started = now();
        loop->blocks = 0;
        if (a2av_run(&loop->base, settings, &job, state, &counted))
            return -1;
        double took = now() - started;
        best = best < 0 || took < best ? took : best;
    }
    a2av_state_free(state);
    free(out), free(in), free(send), free(receive), free(counts);
    return best;
}

int main(int argc, char **argv)
{
    int algorithm = argc > 5 ? a2av_by_name(argv[1]) : -1;
    if (algorithm < 0 || atoi(argv[2]) < 2 || atoi(argv[3]) < 2 || atoi(argv[4]) < 0) {
        fprintf(stderr, "usage: copies ALGORITHM RADIX RANKS BYTES CALLS\n");
        return 2;
    }
    struct loop *loop = calloc(1, sizeof *loop);
    for (int i = 0; i < LETTERS; i++)
        loop->letter[i].bytes = malloc(LARGEST);
    loop->base = (struct a2av_transport){.size = atoi(argv[3]), .send = post, .receive = want,
                                         .wait = take, .copied = count};
    struct a2av_settings settings = a2av_default_settings();
    settings.algorithm = (enum a2av_algorithm)algorithm;
    settings.radix = atoi(argv[2]);
    double best = shortest(loop, &settings, atoi(argv[4]), atoi(argv[5]));
    printf("{\"nanoseconds\": %.0f, \"blocks\": %zu}\n", best, loop->blocks);
    for (int i = 0; i < LETTERS; i++)
        free(loop->letter[i].bytes);
    free(loop);
    return best < 0;
}
