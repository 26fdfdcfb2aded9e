#include "state.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT_BYTES = 64 * 1024 }; /* most bytes of a buffer that stays between calls */

struct a2av_state *a2av_state_new(void)
{
    return calloc(1, sizeof(struct a2av_state));
}

void a2av_state_plan(struct a2av_state *state)
{
    state->planned = true;
}

static void drop_headers(struct a2av_state *state)
{
    for (int i = 0; i < state->rounds; i++) {
        a2av_buffer_free(&state->sent[i].buffer);
        a2av_buffer_free(&state->received[i].buffer);
    }
    free(state->sent);
    free(state->received);
    state->sent = state->received = NULL;
    state->radix = state->rounds = 0;
    state->settled = false;
}

static void drop_mails(struct a2av_state *state)
{
    for (int i = 0; i < state->mails; i++) {
        a2av_buffer_free(&state->mail[i].in);
        a2av_buffer_free(&state->mail[i].out);
    }
    free(state->mail);
    state->mail = NULL;
    state->mails = 0;
}

void a2av_state_free(struct a2av_state *state)
{
    if (state) {
        drop_headers(state);
        drop_mails(state);
        a2av_nodes_free(state->nodes);
        a2av_state_free(state->leaders);
        free(state);
    }
}

int a2av_state_fit(struct a2av_state *state, int radix, int rounds, int mails)
{
    if (radix != state->radix || rounds != state->rounds) {
        drop_headers(state);
        state->sent = calloc((size_t)rounds, sizeof *state->sent);
        state->received = calloc((size_t)rounds, sizeof *state->received);
        if (!state->sent || !state->received) {
            drop_headers(state);
            return A2AV_NO_MEMORY;
        }
        state->radix = radix;
        state->rounds = rounds;
    }
    if (mails != state->mails) {
        drop_mails(state);
        state->mail = calloc((size_t)mails, sizeof *state->mail);
        if (!state->mail)
            return A2AV_NO_MEMORY;
        state->mails = mails;
    }
    return 0;
}

void a2av_state_of_class(struct a2av_state *state, int class, int classes)
{
    if (class != state->class || classes != state->classes)
        drop_headers(state);
    state->class = class;
    state->classes = classes;
}

void a2av_state_led_by(struct a2av_state *state, int leaders)
{
    /* All ranks forget, also one that leads in neither case: its partners may have been others. */
    if (leaders != state->led_by && state->leaders)
        drop_headers(state->leaders);
    state->led_by = leaders;
}

int a2av_state_nodes(struct a2av_state *state, const struct a2av_transport *transport)
{
    if (!state->leaders)
        state->leaders = a2av_state_new();
    if (!state->nodes)
        state->nodes = a2av_nodes_new(transport);
    if (state->leaders)
        state->leaders->planned = state->planned;
    return state->leaders && state->nodes ? 0 : A2AV_NO_MEMORY;
}

int a2av_remember(struct a2av_header *header, const unsigned char *bytes, size_t count,
                  size_t payload)
{
    header->known = false;
    int error = a2av_buffer_reserve(&header->buffer, count);
    if (error)
        return error;
    if (count > 0)
        memcpy(header->buffer.bytes, bytes, count);
    header->count = count;
    header->payload = payload;
    header->known = true;
    return 0;
}

uint64_t a2av_state_bytes(const struct a2av_state *state)
{
    uint64_t held = 0;
    for (int i = 0; i < state->rounds; i++)
        held += state->sent[i].buffer.room + state->received[i].buffer.room;
    for (int i = 0; i < state->mails; i++)
        held += state->mail[i].in.room + state->mail[i].out.room;
    return held;
}

void a2av_state_shrink(struct a2av_state *state)
{
    for (int i = 0; i < state->mails; i++) {
        if (state->mail[i].in.room > KEPT_BYTES)
            a2av_buffer_free(&state->mail[i].in);
        if (state->mail[i].out.room > KEPT_BYTES)
            a2av_buffer_free(&state->mail[i].out);
    }
}
