/* One call of an algorithm in progress, and the steps that all algorithms share. */
#ifndef VAS_A2AV_CALL_H
#define VAS_A2AV_CALL_H

#include <string.h>

#include "a2av.h"
#include "arena.h"
#include "schedule.h"

/* The operations of a call that were started and not waited for. */
struct a2av_flight {
    int *tickets;
    size_t count, room;
};

struct a2av_call;

/* A function that takes a block that has arrived; `bytes` are only there while it runs. Returns
 * 0 or an error. */
typedef int a2av_arrival(struct a2av_call *, int source, const unsigned char *bytes,
                         uint64_t count);

struct a2av_call {
    struct a2av_transport *transport;
    const struct a2av_settings *settings;
    const struct a2av_job *job;
    struct a2av_state *state;
    struct a2av_counts *counts;
    struct a2av_flight flight;
    struct a2av_arena arena;
    size_t kept; /* a2av_exchange does not wait for so many, the first of the flight */
    size_t limit; /* blocks of more bytes are not relayed */
    int rank, ranks;
    /* The rest is set in a call between leaders, where `rank` and `ranks` are nodes. */
    const int *peers;   /* the transport's rank of each node; NULL: the same number */
    int class, classes; /* only distances with this remainder travel; 0 classes: all do */
    a2av_arrival *arrive; /* takes what arrives; NULL: it goes to where the job says */
    void *arrive_self;
};

/* Start to send or to receive a block, in pieces if it is large; an empty one is one message.
 * The operations join the flight. Both return 0 or an error. */
int a2av_start_send(struct a2av_call *, const void *bytes, size_t count, int to, int tag);
int a2av_start_receive(struct a2av_call *, void *bytes, size_t count, int from, int tag);

/* Wait for all operations of the flight, or for all but the first `kept`. Both return 0 or the
 * first error. */
int a2av_land(struct a2av_call *);
int a2av_land_above(struct a2av_call *, size_t kept);

/* Sends and receives one message each, of known sizes, and waits for both. Returns 0 or an
 * error. */
int a2av_exchange(struct a2av_call *, const void *out, size_t out_bytes, int to, void *in,
                  size_t in_bytes, int from, int tag);

/* Copies the block that this rank sends itself. Returns 0 or A2AV_WRONG_SIZE. */
int a2av_copy_own(struct a2av_call *);

/* Copies a block that arrived to where the caller wants it. Returns A2AV_WRONG_SIZE if the
 * block is not as large as the caller expects of that rank. */
int a2av_deliver(struct a2av_call *, int source, const unsigned char *bytes, uint64_t count);

/* Takes a block that came by relays. It must be empty if the rank's block is above the limit,
 * as that goes direct. Returns 0 or an error. */
int a2av_arrive(struct a2av_call *, int source, const unsigned char *bytes, uint64_t count);

/* Returns the transport's number of one of the call's ranks. */
int a2av_peer(const struct a2av_call *, int rank);

/* Copies bytes as memcpy does, and takes NULL where there are none. Most blocks are small: for
 * those a call of memcpy costs more than the bytes. */
static inline void a2av_copy(void *to, const void *from, size_t count)
{
    unsigned char *bytes = to;
    const unsigned char *source = from;
    uint64_t first, last;
    uint32_t half, other;
    if (count > 16) {
        memcpy(to, from, count);
    } else if (count >= 8) {
        memcpy(&first, source, 8);
        memcpy(&last, source + count - 8, 8);
        memcpy(bytes, &first, 8);
        memcpy(bytes + count - 8, &last, 8);
    } else if (count >= 4) {
        memcpy(&half, source, 4);
        memcpy(&other, source + count - 4, 4);
        memcpy(bytes, &half, 4);
        memcpy(bytes + count - 4, &other, 4);
    } else {
        for (size_t i = 0; i < count; i++)
            bytes[i] = source[i];
    }
}

/* Tells the transport of blocks that were copied, and their bytes. */
void a2av_note_copied(const struct a2av_call *, size_t blocks, size_t bytes);

/* Records that so many bytes of scratch memory are held now. */
void a2av_note_scratch(struct a2av_call *, uint64_t bytes);

int a2av_run_linear(struct a2av_call *);
int a2av_run_pairwise(struct a2av_call *);
int a2av_run_sloav(struct a2av_call *);
int a2av_run_tuna(struct a2av_call *, int radix);
int a2av_run_sloav2(struct a2av_call *);
int a2av_run_sloavx(struct a2av_call *);
int a2av_run_sloav2x(struct a2av_call *);

#endif
