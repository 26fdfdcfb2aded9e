/* SLOAV2x: every node has several leaders. A leader serves the nodes whose distance, divided by
 * the number of leaders, leaves its number: it takes what the ranks of its node send there,
 * runs SLOAV2 with the leaders of the same number on the other nodes, and hands out what came.
 * Large blocks go direct, as in SLOAV2. */
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "node_blocks.h"
#include "relay.h"

struct node_call {
    struct a2av_call *call;
    const struct a2av_nodes *nodes;
    struct a2av_local local;
    int leaders;
};

static int place_of(const struct node_call *own, int leader)
{
    return a2av_leader_place(own->nodes, own->nodes->node, leader, own->leaders);
}

/* Writes what this rank has heard of the call's load; every string of this algorithm begins so. */
static unsigned char *write_load(const struct a2av_state *state, unsigned char *at)
{
    memcpy(at, state->load.of, A2AV_LOAD_BYTES);
    return at + A2AV_LOAD_BYTES;
}

static int read_load(struct a2av_state *state, struct a2av_text *text)
{
    if (text->end - text->at < A2AV_LOAD_BYTES)
        return A2AV_BAD_MESSAGE;
    a2av_load_raise(&state->load, text->at);
    text->at += A2AV_LOAD_BYTES;
    return 0;
}

static int hand_up(struct node_call *own)
{
    for (int leader = 0; leader < own->leaders; leader++) {
        int to = place_of(own, leader);
        size_t room = a2av_up_room(own->call, own->nodes, leader, own->leaders);
        unsigned char *at = a2av_local_room(&own->local, A2AV_UP, to, A2AV_LOAD_BYTES + room);
        if (!at)
            return A2AV_NO_MEMORY;
        unsigned char *end = a2av_write_up(own->call, own->nodes, leader, own->leaders,
                                           write_load(own->call->state, at));
        int error = a2av_local_post(&own->local, A2AV_UP, to, (size_t)(end - at));
        if (error)
            return error;
    }
    a2av_local_publish(&own->local, A2AV_UP);
    return 0;
}

static int collect(struct node_call *own, struct a2av_leading *leading)
{
    struct a2av_text *texts = calloc((size_t)own->local.members, sizeof *texts);
    int error = texts ? 0 : A2AV_NO_MEMORY;
    for (int i = 0; i < own->local.members && !error; i++) {
        size_t count;
        error = a2av_local_fetch(&own->local, A2AV_UP, i, &texts[i].at, &count);
        if (error)
            break;
        texts[i].end = texts[i].at + count;
        error = read_load(leading->between.state, &texts[i]);
    }
    if (!error)
        error = a2av_join(leading, texts);
    free(texts);
    return error;
}

static int hand_down(struct node_call *own, const struct a2av_leading *leading)
{
    size_t n = (size_t)own->local.members;
    size_t *room = calloc(n, sizeof *room);
    unsigned char **at = calloc(2 * n, sizeof *at), **start = at ? at + n : NULL;
    int error = room && at ? a2av_down_room(leading, room) : A2AV_NO_MEMORY;
    for (int i = 0; i < own->local.members && !error; i++) {
        start[i] = a2av_local_room(&own->local, A2AV_DOWN, i, A2AV_LOAD_BYTES + room[i]);
        if (!start[i])
            error = A2AV_NO_MEMORY;
        else
            at[i] = write_load(leading->between.state, start[i]);
    }
    if (!error)
        error = a2av_write_down(leading, at);
    for (int i = 0; i < own->local.members && !error; i++)
        error = a2av_local_post(&own->local, A2AV_DOWN, i, (size_t)(at[i] - start[i]));
    free(room);
    free(at);
    return error;
}

static int lead(struct node_call *own, int leader)
{
    struct a2av_leading leading;
    int error = a2av_leading_open(&leading, own->call, own->nodes, leader, own->leaders);
    leading.between.state->load = own->call->state->load;
    if (!error)
        error = collect(own, &leading);
    if (!error)
        error = a2av_sloav2_rounds(&leading.between, leading.slots);
    if (!error)
        error = hand_down(own, &leading);
    if (!error)
        a2av_leading_close(&leading);
    return error;
}

static int take_down(struct node_call *own)
{
    int error = 0;
    for (int leader = 0; leader < own->leaders && !error; leader++) {
        struct a2av_text text;
        size_t count;
        error = a2av_local_fetch(&own->local, A2AV_DOWN, place_of(own, leader), &text.at, &count);
        if (error)
            return error;
        text.end = text.at + count;
        error = read_load(own->call->state, &text);
        if (!error)
            error = a2av_read_down(own->call, own->nodes, leader, own->leaders, text);
    }
    return error;
}

static int run_in_node(struct node_call *own)
{
    int error = hand_up(own);
    for (int leader = 0; leader < own->leaders && !error; leader++)
        if (place_of(own, leader) == own->nodes->place)
            error = lead(own, leader);
    if (error)
        return error;
    a2av_local_publish(&own->local, A2AV_DOWN);
    return take_down(own);
}

int a2av_run_sloav2x(struct a2av_call *call)
{
    int error = call->transport->node_of ? a2av_state_nodes(call->state, call->transport) : 0;
    if (error)
        return error;
    struct node_call own = {.call = call, .nodes = call->state->nodes};
    if (!own.nodes || own.nodes->count < 2 || own.nodes->most < 2)
        return a2av_run_sloav2(call);
    int most = own.nodes->fewest < own.nodes->count ? own.nodes->fewest : own.nodes->count;
    own.leaders = call->settings->leaders < most ? call->settings->leaders : most;
    own.leaders = own.leaders < 1 ? 1 : own.leaders;
    a2av_state_led_by(call->state, own.leaders);
    call->limit = call->settings->direct_bytes;
    call->state->load = a2av_load_of(call);
    error = a2av_start_large(call);
    if (!error)
        error = a2av_local_open(&own.local, call, own.nodes);
    if (!error)
        error = run_in_node(&own);
    if (!error)
        error = a2av_copy_own(call);
    if (!error)
        error = a2av_land(call);
    if (!error)
        a2av_local_close(&own.local);
    call->state->loaded = !error;
    return error;
}
