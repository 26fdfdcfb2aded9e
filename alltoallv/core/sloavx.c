/* SLOAVX as the dissertation has it (4.1.2): the first rank of each node gathers what its node's
 * ranks send through a binomial tree, runs SLOAV with the other leaders on what goes from node to
 * node, and scatters what came. Strings lie in memory that the node shares where there is some. */
#include <stdlib.h>
#include <string.h>

#include "relay.h"
#include "tree.h"

/* Returns the most bytes of a block that is relayed, so that a node's block stays below what 4
 * bytes of length can say. */
static size_t limit_of(const struct a2av_nodes *nodes)
{
    size_t pairs = (size_t)nodes->most * (size_t)nodes->most;
    return A2AV_RELAY_LARGEST / 2 / pairs;
}

static int gather(struct a2av_call *call, struct a2av_tree *tree, struct a2av_text *texts)
{
    const struct a2av_nodes *nodes = call->state->nodes;
    int error = a2av_buffer_reserve(&tree->data, a2av_up_room(call, nodes, 0, 1));
    if (error)
        return error;
    unsigned char *end = a2av_write_up(call, nodes, 0, 1, tree->data.bytes);
    return a2av_tree_gather(tree, (size_t)(end - tree->data.bytes), texts);
}

/* Writes the strings that go down one after the other, without gaps. Returns 0 or an error. */
static int write_strings(const struct a2av_leading *leading, struct a2av_tree *tree)
{
    size_t n = (size_t)tree->members, sum = 0, used = 0;
    size_t *room = calloc(n, sizeof *room);
    unsigned char **at = calloc(n, sizeof *at);
    int error = room && at ? a2av_down_room(leading, room) : A2AV_NO_MEMORY;
    for (size_t i = 0; i < n && !error; i++)
        sum += room[i];
    if (!error)
        error = a2av_buffer_reserve(&tree->data, sum);
    for (size_t i = 0; i < n && !error; used += room[i], i++)
        at[i] = tree->data.bytes + used;
    if (!error)
        error = a2av_write_down(leading, at);
    unsigned char *from = tree->data.bytes, *to = from;
    for (size_t i = 0; i < n && !error; i++) {
        tree->sizes[1 + i] = (uint64_t)(at[i] - from);
        memmove(to, from, tree->sizes[1 + i]);
        to += tree->sizes[1 + i];
        from += room[i];
    }
    free(room);
    free(at);
    return error;
}

static int lead(struct a2av_call *call, struct a2av_tree *tree, struct a2av_text *texts)
{
    struct a2av_leading leading;
    int error = a2av_leading_open(&leading, call, call->state->nodes, 0, 1);
    if (!error)
        error = a2av_join(&leading, texts);
    if (!error)
        error = a2av_sloav_rounds(&leading.between, leading.slots);
    if (!error)
        error = write_strings(&leading, tree);
    if (!error)
        a2av_leading_close(&leading);
    return error;
}

static int run_in_node(struct a2av_call *call, struct a2av_local *local)
{
    struct a2av_tree tree;
    struct a2av_text own;
    struct a2av_text *texts = calloc((size_t)local->members, sizeof *texts);
    int error = texts ? a2av_tree_open(&tree, local) : A2AV_NO_MEMORY;
    if (!error)
        error = gather(call, &tree, texts);
    if (!error && local->nodes->place == 0)
        error = lead(call, &tree, texts);
    if (!error)
        error = a2av_tree_scatter(&tree, &own);
    if (!error)
        error = a2av_read_down(call, local->nodes, 0, 1, own);
    if (error)
        return error;
    if (local->nodes->place > 0)
        a2av_local_publish(local, A2AV_DOWN);
    a2av_tree_close(&tree);
    free(texts);
    return 0;
}

int a2av_run_sloavx(struct a2av_call *call)
{
    struct a2av_local local;
    int error = call->transport->node_of ? a2av_state_nodes(call->state, call->transport) : 0;
    if (error)
        return error;
    const struct a2av_nodes *nodes = call->state->nodes;
    if (!nodes || nodes->count < 2 || nodes->most < 2)
        return a2av_run_sloav(call);
    call->limit = limit_of(nodes);
    error = a2av_start_large(call);
    call->kept = call->flight.count;
    if (!error)
        error = a2av_local_open(&local, call, nodes);
    if (!error)
        error = run_in_node(call, &local);
    call->kept = 0;
    if (!error)
        error = a2av_copy_own(call);
    if (!error)
        error = a2av_land(call);
    if (!error)
        a2av_local_close(&local);
    return error;
}
