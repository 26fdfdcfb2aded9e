/* Passes strings of bytes between the ranks of one node: through the window that they share, or
 * by messages where there is none, or it has no room for a string. */
#ifndef VAS_A2AV_LOCAL_H
#define VAS_A2AV_LOCAL_H

#include "call.h"
#include "nodes.h"

/* The ways of strings in a call: up to the leaders, then down from them. One rank has at most
 * one string each way for another. */
enum a2av_way { A2AV_UP, A2AV_DOWN, A2AV_WAYS };

struct a2av_local {
    struct a2av_call *call;
    const struct a2av_nodes *nodes;
    int members;
    uint32_t number;            /* number of this call among those that used the window */
    size_t used[A2AV_WAYS];     /* bytes used of the areas of the own part */
    /* By member: the strings that travel as messages. */
    struct a2av_buffer *out[A2AV_WAYS], *in[A2AV_WAYS];
};

/* Begins the strings of a call. Returns 0 or A2AV_NO_MEMORY. */
int a2av_local_open(struct a2av_local *, struct a2av_call *, const struct a2av_nodes *);

/* Frees the memory of strings; every message must have been waited for. */
void a2av_local_close(struct a2av_local *);

/* Returns memory of `room` bytes for the string to a member; NULL without memory. */
unsigned char *a2av_local_room(struct a2av_local *, enum a2av_way, int to, size_t room);

/* Hands over the string to a member: `count` bytes, written to the memory of a2av_local_room.
 * Returns 0 or an error. */
int a2av_local_post(struct a2av_local *, enum a2av_way, int to, size_t count);

/* Lets the other ranks see all strings of this way. Every rank does it once for each way, with
 * strings or without, so that the window's numbers stay equal. */
void a2av_local_publish(struct a2av_local *, enum a2av_way);

/* Waits until a member has published its strings of this way. Returns 0 or an error; 0 at once
 * without a window. */
int a2av_local_await(struct a2av_local *, enum a2av_way, int from);

/* Waits for the string of a member, and sets `bytes`, which live until the end of the call, and
 * `count`. Returns 0 or an error. */
int a2av_local_fetch(struct a2av_local *, enum a2av_way, int from, const unsigned char **bytes,
                     size_t *count);

/* Returns a member's area for strings of one way in the window, of A2AV_AREA_BYTES; NULL
 * without a window. */
enum { A2AV_AREA_BYTES = 256 * 1024 };
unsigned char *a2av_local_area(const struct a2av_local *, enum a2av_way, int member);

#endif
