/* Defines how a shape of calls is run by threads, of shapes.h. */
#include "shapes.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mailboxes.h"

void fail(const char *what, int line)
{
    fprintf(stderr, "core-test: line %d: not true: %s\n", line, what);
    exit(1);
}

struct worker {
    pthread_t thread;
    const struct shape *shape;
    struct a2av_transport *transport;
    struct a2av_counts counts;
    struct a2av_load load;
    size_t wrong;
};

static size_t size_of(const struct shape *shape, int from, int to)
{
    if (shape->hot && from == 0 && to == shape->ranks - 1)
        return shape->hot;
    return shape->uneven ? (size_t)(from * 31 + to * 17) % (shape->bytes + 1) : shape->bytes;
}

static unsigned char byte_of(int from, int to, size_t i)
{
    return (unsigned char)(from * 7 + to * 13 + (int)(i % 251));
}

static unsigned char *block(const struct shape *shape, int from, int to, bool filled)
{
    size_t count = size_of(shape, from, to);
    unsigned char *bytes = malloc(count + 1); /* the last byte is nobody's */
    for (size_t i = 0; i < count; i++)
        bytes[i] = filled ? byte_of(from, to, i) : 0;
    bytes[count] = 0xA5;
    return bytes;
}

static size_t count_wrong(const struct shape *shape, int from, int to, const unsigned char *bytes)
{
    size_t count = size_of(shape, from, to), wrong = bytes[count] != 0xA5;
    for (size_t i = 0; i < count; i++)
        wrong += bytes[i] != byte_of(from, to, i);
    return wrong;
}

static void *work(void *argument)
{
    struct worker *own = argument;
    const struct shape *shape = own->shape;
    size_t n = (size_t)shape->ranks;
    int rank = own->transport->rank;
    unsigned char **send = malloc(n * sizeof *send), **receive = malloc(n * sizeof *receive);
    size_t *send_bytes = malloc(n * sizeof *send_bytes), *bytes = malloc(n * sizeof *bytes);
    struct a2av_state *state = a2av_state_new();
    if (shape->planned)
        a2av_state_plan(state);
    for (int other = 0; other < shape->ranks; other++) {
        send[other] = block(shape, rank, other, true);
        receive[other] = block(shape, other, rank, false);
        send_bytes[other] = size_of(shape, rank, other);
        bytes[other] = size_of(shape, other, rank);
    }
    struct a2av_job job = {(const unsigned char *const *)send, send_bytes, receive, bytes};
    for (int call = 0; call < shape->calls; call++) {
        struct a2av_settings settings = shape->settings;
        if (shape->other_leaders && call % 2)
            settings.leaders = shape->other_leaders;
        own->wrong += a2av_run(own->transport, &settings, &job, state, &own->counts) != 0;
        for (int other = 0; other < shape->ranks && call + 1 < shape->calls; other++)
            memset(receive[other], 0, bytes[other]);
    }
    for (int other = 0; other < shape->ranks; other++) {
        own->wrong += count_wrong(shape, other, rank, receive[other]);
        own->wrong += count_wrong(shape, rank, other, send[other]);
        free(send[other]);
        free(receive[other]);
    }
    a2av_state_load(state, &own->load);
    a2av_state_free(state);
    free(send), free(receive), free(send_bytes), free(bytes);
    return NULL;
}

/* Puts ranks on nodes of different size, whose ranks are not in a row. */
static int *nodes_of(const struct shape *shape)
{
    int *node_of = malloc((size_t)shape->ranks * sizeof *node_of);
    if (shape->sizes) {
        for (int rank = 0, node = 0, left = shape->sizes[0]; rank < shape->ranks; rank++, left--) {
            if (left == 0)
                left = shape->sizes[++node];
            node_of[rank] = node;
        }
        return node_of;
    }
    for (int rank = 0; rank < shape->ranks; rank++)
        node_of[rank] = rank < shape->nodes ? rank : (rank * rank + rank / 3) % shape->nodes;
    return node_of;
}

/* What the ranks of one run counted. */
struct crew {
    struct a2av_counts counts; /* of rank 0; the memory is the most of any rank */
    struct a2av_load load;
    uint64_t between;
};

static void start(struct worker *workers, const struct shape *shape, struct mailboxes *boxes)
{
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 * 1024);
    for (int rank = 0; rank < shape->ranks; rank++) {
        struct worker *worker = &workers[rank];
        worker->shape = shape;
        worker->transport = mailboxes_rank(boxes, rank);
        CHECK(pthread_create(&worker->thread, &small, work, worker) == 0);
    }
    pthread_attr_destroy(&small);
}

/* Waits for the ranks; returns the number of bytes that are wrong, and ranks that are. */
static size_t join(const struct worker *workers, int ranks, struct crew *crew)
{
    size_t wrong = 0;
    uint64_t most = 0;
    for (int rank = 0; rank < ranks; rank++) {
        const struct worker *worker = &workers[rank];
        pthread_join(worker->thread, NULL);
        wrong += worker->wrong;
        wrong += memcmp(&worker->load, &workers[0].load, sizeof worker->load) != 0;
        if (worker->counts.scratch_bytes > most)
            most = worker->counts.scratch_bytes;
    }
    crew->counts = workers[0].counts;
    crew->counts.scratch_bytes = most;
    crew->load = workers[0].load;
    return wrong;
}

static struct crew run_by(const struct shape *shape, enum mail mail)
{
    int *node_of = shape->nodes ? nodes_of(shape) : NULL;
    struct mailboxes *boxes = mailboxes_new(shape->ranks, mail);
    struct worker *workers = calloc((size_t)shape->ranks, sizeof *workers);
    struct crew crew;
    if (node_of)
        mailboxes_put_on_nodes(boxes, node_of, shape->shared);
    start(workers, shape, boxes);
    CHECK(join(workers, shape->ranks, &crew) == 0);
    CHECK(mailboxes_changed(boxes) == 0);
    crew.between = mailboxes_between_nodes(boxes);
    mailboxes_free(boxes);
    free(workers);
    free(node_of);
    return crew;
}

struct a2av_counts run_loaded(const struct shape *shape, uint64_t *between,
                              struct a2av_load *load)
{
    struct crew crew = run_by(shape, MAIL_COPIED), late = run_by(shape, MAIL_LATE);
    CHECK(memcmp(&late.counts, &crew.counts, sizeof crew.counts) == 0);
    CHECK(late.between == crew.between);
    if (between)
        *between = crew.between;
    *load = crew.load;
    return crew.counts;
}

struct a2av_counts run_nodes(const struct shape *shape, uint64_t *between)
{
    struct a2av_load load;
    return run_loaded(shape, between, &load);
}

struct a2av_counts run_all(const struct shape *shape)
{
    return run_nodes(shape, NULL);
}

struct shape shape_of(int ranks, size_t bytes, enum a2av_algorithm algorithm, int radix)
{
    struct shape shape = {.ranks = ranks, .calls = 2, .bytes = bytes};
    shape.settings = a2av_default_settings();
    shape.settings.algorithm = algorithm;
    shape.settings.radix = radix;
    return shape;
}
