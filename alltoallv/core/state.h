/* The memory of SLOAV2 between calls on one communicator. */
#ifndef VAS_A2AV_STATE_H
#define VAS_A2AV_STATE_H

#include "a2av.h"
#include "arena.h"
#include "load.h"
#include "nodes.h"

/* The encoded lengths of a round as they last travelled. */
struct a2av_header {
    struct a2av_buffer buffer;
    size_t count;
    size_t payload; /* the sum of the lengths */
    struct a2av_load_code load; /* as it last travelled in this round */
    bool known;
};

/* The buffers of one message of a batch, which is on its way. */
struct a2av_mail {
    struct a2av_buffer out, in;
};

struct a2av_state {
    int radix, rounds, mails; /* what the arrays were made for */
    bool loaded;
    struct a2av_load_code load; /* load of this call, as far as this rank has heard */
    bool planned, settled;    /* sizes never change; and all headers are known */
    int class, classes;       /* in a leader's state: the distances that the headers are of */
    struct a2av_header *sent, *received;
    struct a2av_mail *mail;
    struct a2av_nodes *nodes; /* for algorithms with leaders: made at the first call */
    struct a2av_state *leaders; /* state of the rounds between leaders */
    int led_by;                 /* leaders of each node in the call before */
};

/* Makes the arrays fit; forgets the headers if the radix or the number of rounds has changed.
 * Returns 0 or A2AV_NO_MEMORY. */
int a2av_state_fit(struct a2av_state *, int radix, int rounds, int mails);

/* Forgets the headers unless they are of this class of distances. */
void a2av_state_of_class(struct a2av_state *, int class, int classes);

/* Forgets the headers of leaders unless each node has as many as in the call before. */
void a2av_state_led_by(struct a2av_state *, int leaders);

/* Makes the nodes and the state of leaders, which the algorithms with leaders need. Returns 0
 * or A2AV_NO_MEMORY. */
int a2av_state_nodes(struct a2av_state *, const struct a2av_transport *);

/* Remembers the lengths of a round that travelled, `count` encoded bytes, and their sum.
 * Returns 0 or A2AV_NO_MEMORY. */
int a2av_remember(struct a2av_header *, const unsigned char *bytes, size_t count, size_t payload);

/* Returns the bytes that the buffers of the state hold. */
uint64_t a2av_state_bytes(const struct a2av_state *);

/* Frees large buffers that a call has left. */
void a2av_state_shrink(struct a2av_state *);

#endif
