/* Holds the memory of relayed blocks, which grows with the bytes that are really relayed, and
 * is freed at once. */
#ifndef VAS_A2AV_ARENA_H
#define VAS_A2AV_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct a2av_chunk;

struct a2av_arena {
    struct a2av_chunk *chunks;
    uint64_t held; /* bytes of all chunks */
};

/* Returns memory for so many bytes, which lives until the arena is emptied; NULL without any. */
unsigned char *a2av_arena_take(struct a2av_arena *, size_t bytes);
void a2av_arena_empty(struct a2av_arena *);

/* A buffer that only grows. */
struct a2av_buffer {
    unsigned char *bytes;
    size_t room;
};

/* Makes room for so many bytes in all; what is in the buffer stays. Returns 0 or
 * A2AV_NO_MEMORY. */
int a2av_buffer_reserve(struct a2av_buffer *, size_t room);
void a2av_buffer_free(struct a2av_buffer *);

#endif
