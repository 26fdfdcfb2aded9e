/* Strings of bytes between the ranks of one node: through the window that they share; by messages
 * where there is none, and for a string that has no room in it. */
#ifndef VAS_A2AV_LOCAL_H
#define VAS_A2AV_LOCAL_H

#include "call.h"
#include "nodes.h"

/* A call hands strings up to the leaders, then down from them: at most one each way from one rank
 * to another. */
enum a2av_way { A2AV_UP, A2AV_DOWN, A2AV_WAYS };

struct a2av_local {
    struct a2av_call *call;
    const struct a2av_nodes *nodes;
    int members;
    uint64_t number;            /* of this call among those that used the window */
    size_t used[A2AV_WAYS];     /* of the areas of the own part */
    struct a2av_buffer *out[A2AV_WAYS], *in[A2AV_WAYS]; /* by member; for messages */
};

int a2av_local_open(struct a2av_local *, struct a2av_call *, const struct a2av_nodes *);

/* Gives the memory back; every message must have been waited for. */
void a2av_local_close(struct a2av_local *);

/* Memory of `room` bytes for the string to a member; NULL without memory. */
unsigned char *a2av_local_room(struct a2av_local *, enum a2av_way, int to, size_t room);

/* Hands over what was written there: so many bytes. */
int a2av_local_post(struct a2av_local *, enum a2av_way, int to, size_t count);

/* Lets the others see all strings of this way. Every rank does it once for each way, with strings
 * or without, so that the window's numbers stay equal. */
void a2av_local_publish(struct a2av_local *, enum a2av_way);

/* Waits until a member has published. Returns at once without a window. */
int a2av_local_await(struct a2av_local *, enum a2av_way, int from);

/* Waits for the string of a member; the bytes live until the end of the call. */
int a2av_local_fetch(struct a2av_local *, enum a2av_way, int from, const unsigned char **bytes,
                     size_t *count);

/* A member's area in the window, of A2AV_AREA_BYTES; NULL without a window. */
enum { A2AV_AREA_BYTES = 256 * 1024 };
unsigned char *a2av_local_area(const struct a2av_local *, enum a2av_way, int member);

#endif
