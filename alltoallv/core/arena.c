#include "arena.h"

#include <stdalign.h>
#include <stdlib.h>

#include "a2av.h"

enum { CHUNK_BYTES = 16 * 1024 };

struct a2av_chunk {
    struct a2av_chunk *next;
    size_t used, room;
    alignas(max_align_t) unsigned char bytes[];
};

static struct a2av_chunk *add_chunk(struct a2av_arena *arena, size_t bytes)
{
    size_t room = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
    if (room > SIZE_MAX - sizeof(struct a2av_chunk))
        return NULL;
    struct a2av_chunk *chunk = malloc(sizeof *chunk + room);
    if (!chunk)
        return NULL;
    *chunk = (struct a2av_chunk){.next = arena->chunks, .room = room};
    arena->chunks = chunk;
    arena->held += room;
    return chunk;
}

unsigned char *a2av_arena_take(struct a2av_arena *arena, size_t bytes)
{
    struct a2av_chunk *chunk = arena->chunks;
    if (!chunk || chunk->room - chunk->used < bytes)
        chunk = add_chunk(arena, bytes);
    if (!chunk)
        return NULL;
    unsigned char *taken = chunk->bytes + chunk->used;
    chunk->used += bytes;
    return taken;
}

void a2av_arena_empty(struct a2av_arena *arena)
{
    while (arena->chunks) {
        struct a2av_chunk *next = arena->chunks->next;
        free(arena->chunks);
        arena->chunks = next;
    }
    arena->held = 0;
}

int a2av_buffer_reserve(struct a2av_buffer *buffer, size_t room)
{
    if (room <= buffer->room)
        return 0;
    unsigned char *grown = realloc(buffer->bytes, room);
    if (!grown)
        return A2AV_NO_MEMORY;
    *buffer = (struct a2av_buffer){grown, room};
    return 0;
}

void a2av_buffer_free(struct a2av_buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (struct a2av_buffer){0};
}
