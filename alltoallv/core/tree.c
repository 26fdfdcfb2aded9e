#include "tree.h"

#include <stdlib.h>

#define NO_PLACE UINT64_MAX

enum { NUMBER = sizeof(uint64_t) };

int a2av_tree_open(struct a2av_tree *tree, struct a2av_local *local)
{
    int place = local->nodes->place, span = 1;
    while (place ? !(place & span) : span < local->members)
        span *= 2;
    int left = local->members - place;
    *tree = (struct a2av_tree){.local = local, .members = left < span ? left : span};
    /* There is one entry more, for the place in the window that travels with sizes. */
    tree->sizes = calloc((size_t)tree->members + 1, sizeof *tree->sizes);
    return tree->sizes ? 0 : A2AV_NO_MEMORY;
}

void a2av_tree_close(struct a2av_tree *tree)
{
    free(tree->sizes);
    a2av_buffer_free(&tree->data);
}

static int rank_at(const struct a2av_tree *tree, int by)
{
    const struct a2av_nodes *nodes = tree->local->nodes;
    return a2av_member(nodes, nodes->node, nodes->place + by);
}

/* Returns how many places this member is after its parent; 0 for the root. */
static int parent_of(const struct a2av_tree *tree)
{
    int place = tree->local->nodes->place;
    return place & -place;
}

static uint64_t sum_of(const uint64_t *sizes, int from, int to)
{
    uint64_t sum = 0;
    for (int i = from; i < to; i++)
        sum += sizes[i];
    return sum;
}

/* Returns the end of a child's subtree: the child at a distance has the members from there to
 * twice as far. */
static int child_end(const struct a2av_tree *tree, int by)
{
    return 2 * by < tree->members ? 2 * by : tree->members;
}

static int send_now(struct a2av_tree *tree, const void *bytes, size_t count, int by, int tag)
{
    struct a2av_call *call = tree->local->call;
    int error = a2av_start_send(call, bytes, count, rank_at(tree, by), tag);
    return error ? error : a2av_land_above(call, call->kept);
}

static int receive_now(struct a2av_tree *tree, void *bytes, size_t count, int by, int tag)
{
    struct a2av_call *call = tree->local->call;
    int error = a2av_start_receive(call, bytes, count, rank_at(tree, by), tag);
    return error ? error : a2av_land_above(call, call->kept);
}

static int gather_sizes(struct a2av_tree *tree)
{
    int error = 0, parent = parent_of(tree);
    for (int by = 1; by < tree->members && !error; by *= 2)
        error = receive_now(tree, tree->sizes + by, (size_t)(child_end(tree, by) - by) * NUMBER,
                            by, A2AV_TAG_UP);
    if (error || !parent)
        return error;
    tree->local->call->counts->metadata_bytes += (size_t)tree->members * NUMBER;
    return send_now(tree, tree->sizes, (size_t)tree->members * NUMBER, -parent, A2AV_TAG_UP);
}

/* Hands out the places of strings in the root's area, or NO_PLACE where there is no room for
 * all. Returns 0 or an error. */
static int hand_places(struct a2av_tree *tree, uint64_t *place)
{
    int error = 0, parent = parent_of(tree), by = 1;
    *place = sum_of(tree->sizes, 0, tree->members) <= A2AV_AREA_BYTES ? 0 : NO_PLACE;
    if (parent)
        error = receive_now(tree, place, NUMBER, -parent, A2AV_TAG_DOWN);
    for (; by < tree->members && !error; by *= 2) {
        uint64_t next = *place == NO_PLACE ? NO_PLACE : *place + sum_of(tree->sizes, 0, by);
        tree->local->call->counts->metadata_bytes += NUMBER;
        error = send_now(tree, &next, NUMBER, by, A2AV_TAG_DOWN);
    }
    return error;
}

static int gather_data(struct a2av_tree *tree)
{
    int error = a2av_buffer_reserve(&tree->data, sum_of(tree->sizes, 0, tree->members) + 1);
    for (int by = 1; by < tree->members && !error; by *= 2)
        error = receive_now(tree, tree->data.bytes + sum_of(tree->sizes, 0, by),
                            sum_of(tree->sizes, by, child_end(tree, by)), by, A2AV_TAG_UP);
    if (error || !parent_of(tree))
        return error;
    return send_now(tree, tree->data.bytes, sum_of(tree->sizes, 0, tree->members),
                    -parent_of(tree), A2AV_TAG_UP);
}

int a2av_tree_gather(struct a2av_tree *tree, size_t count, struct a2av_text *texts)
{
    struct a2av_local *local = tree->local;
    unsigned char *area = a2av_local_area(local, A2AV_UP, 0);
    uint64_t place = NO_PLACE;
    tree->sizes[0] = count;
    int error = gather_sizes(tree);
    if (!error && area)
        error = hand_places(tree, &place);
    if (error)
        return error;
    if (place == NO_PLACE)
        error = gather_data(tree);
    else
        a2av_copy(area + place, tree->data.bytes, count);
    a2av_local_publish(local, A2AV_UP);
    const unsigned char *at = place == NO_PLACE ? tree->data.bytes : area;
    for (int i = 0; !parent_of(tree) && i < tree->members && !error; i++) {
        error = a2av_local_await(local, A2AV_UP, i);
        texts[i] = (struct a2av_text){at, at + tree->sizes[i]};
        at = texts[i].end;
    }
    return error;
}

/* Sends each child the sizes and data of its subtree, the largest subtree first. Returns 0 or
 * an error. */
static int scatter_on(struct a2av_tree *tree, uint64_t place)
{
    int error = 0, by = 1;
    uint64_t *sizes = tree->sizes + 1;
    while (2 * by < tree->members)
        by *= 2;
    for (; by > 0 && by < tree->members && !error; by /= 2) {
        int end = child_end(tree, by);
        uint64_t before = sum_of(sizes, 0, by), count = sum_of(sizes, by, end);
        uint64_t kept = sizes[by - 1];
        sizes[by - 1] = place == NO_PLACE ? NO_PLACE : place + before;
        tree->local->call->counts->metadata_bytes += (size_t)(end - by + 1) * NUMBER;
        error = send_now(tree, sizes + by - 1, (size_t)(end - by + 1) * NUMBER, by, A2AV_TAG_DOWN);
        sizes[by - 1] = kept;
        if (!error && place == NO_PLACE)
            error = send_now(tree, tree->data.bytes + before, count, by, A2AV_TAG_DOWN);
    }
    return error;
}

int a2av_tree_scatter(struct a2av_tree *tree, struct a2av_text *own)
{
    struct a2av_local *local = tree->local;
    unsigned char *area = a2av_local_area(local, A2AV_DOWN, 0);
    uint64_t *sizes = tree->sizes + 1, place = NO_PLACE, count;
    int error = 0, parent = parent_of(tree);
    if (parent) {
        error = receive_now(tree, tree->sizes, (size_t)(tree->members + 1) * NUMBER, -parent,
                            A2AV_TAG_DOWN);
        place = tree->sizes[0];
    }
    count = error ? 0 : sum_of(sizes, 0, tree->members);
    if (!parent && area && count <= A2AV_AREA_BYTES) {
        place = 0;
        a2av_copy(area, tree->data.bytes, count);
    }
    if (parent && !error && place == NO_PLACE) {
        error = a2av_buffer_reserve(&tree->data, count + 1);
        if (!error)
            error = receive_now(tree, tree->data.bytes, count, -parent, A2AV_TAG_DOWN);
    }
    if (!parent)
        a2av_local_publish(local, A2AV_DOWN);
    if (!error)
        error = scatter_on(tree, place);
    if (!error)
        error = a2av_local_await(local, A2AV_DOWN, 0);
    own->at = place == NO_PLACE ? tree->data.bytes : area + place;
    own->end = own->at + sizes[0];
    return error;
}
