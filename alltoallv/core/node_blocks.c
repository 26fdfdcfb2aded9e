#include "node_blocks.h"

#include <stdlib.h>

#include "lengths.h"

static int node_after(const struct a2av_nodes *nodes, int by)
{
    return a2av_rank_after(nodes->node, by, nodes->count);
}

static int node_before(const struct a2av_nodes *nodes, int by)
{
    return a2av_rank_before(nodes->node, by, nodes->count);
}

/* Returns how many bytes of the block for a rank travel by leaders: 0 for the block to this rank
 * itself, and for one that goes direct. */
static size_t relayed(const struct a2av_call *call, int to)
{
    size_t count = call->job->send_bytes[to];
    return to == call->rank || count > call->limit ? 0 : count;
}

size_t a2av_up_room(const struct a2av_call *call, const struct a2av_nodes *nodes, int class,
                    int classes)
{
    size_t room = 0;
    for (int by = class; by < nodes->count; by += classes) {
        int node = node_after(nodes, by), members = a2av_node_size(nodes, node);
        for (int i = 0; i < members; i++)
            room += A2AV_LENGTH_BYTES + relayed(call, a2av_member(nodes, node, i));
    }
    return room;
}

static unsigned char *write_share(const struct a2av_call *call, const struct a2av_nodes *nodes,
                                  int node, unsigned char *at)
{
    struct a2av_length_writer writer = {.at = at};
    int members = a2av_node_size(nodes, node);
    for (int i = 0; i < members; i++)
        a2av_write_length(&writer, relayed(call, a2av_member(nodes, node, i)));
    a2av_end_lengths(&writer);
    at = writer.at;
    for (int i = 0; i < members; i++) {
        int to = a2av_member(nodes, node, i);
        a2av_copy(at, call->job->send[to], relayed(call, to));
        at += relayed(call, to);
    }
    return at;
}

unsigned char *a2av_write_up(const struct a2av_call *call, const struct a2av_nodes *nodes,
                             int class, int classes, unsigned char *at)
{
    const unsigned char *begin = at;
    size_t blocks = 0;
    for (int by = class; by < nodes->count; by += classes) {
        at = write_share(call, nodes, node_after(nodes, by), at);
        blocks += (size_t)a2av_node_size(nodes, node_after(nodes, by));
    }
    a2av_note_copied(call, blocks, (size_t)(at - begin));
    return at;
}

/* Finds where a share's blocks begin, and where the share ends. Returns 0 or A2AV_BAD_MESSAGE. */
static int find_share(struct a2av_text text, int blocks, const unsigned char **data,
                      const unsigned char **end)
{
    struct a2av_length_reader reader = {text.at, text.end, 0};
    size_t sum = 0, whole = (size_t)(text.end - text.at);
    for (int i = 0; i < blocks; i++) {
        uint64_t count;
        int error = a2av_read_length(&reader, &count);
        if (error || count > whole - sum)
            return A2AV_BAD_MESSAGE;
        sum += count;
    }
    if (reader.zeros > 0 || sum > (size_t)(text.end - reader.at))
        return A2AV_BAD_MESSAGE;
    *data = reader.at;
    *end = reader.at + sum;
    return 0;
}

/* Joins the shares of all members for the node at a distance. Returns 0 or an error. */
static int join_shares(struct a2av_leading *leading, struct a2av_text *texts, int by)
{
    const struct a2av_nodes *nodes = leading->nodes;
    int blocks = a2av_node_size(nodes, node_after(nodes, by));
    int members = a2av_node_size(nodes, nodes->node), error = 0;
    const unsigned char *data, *end;
    size_t sum = 0;
    for (int i = 0; i < members; i++) {
        error = find_share(texts[i], blocks, &data, &end);
        if (error)
            return error;
        sum += (size_t)(end - texts[i].at);
    }
    unsigned char *at = a2av_arena_take(&leading->between.arena, sum);
    if (!at)
        return A2AV_NO_MEMORY;
    leading->slots[by] = (struct a2av_slot){at, sum};
    for (int i = 0; i < members && !error; i++) {
        error = find_share(texts[i], blocks, &data, &end);
        a2av_copy(at, texts[i].at, (size_t)(end - texts[i].at));
        at += end - texts[i].at;
        texts[i].at = end;
    }
    /* Each length is read, as the next share begins behind it. */
    a2av_note_copied(leading->call, (size_t)members * (size_t)blocks, sum);
    return error;
}

int a2av_join(struct a2av_leading *leading, struct a2av_text *texts)
{
    int error = 0;
    for (int by = leading->class; by < leading->nodes->count && !error; by += leading->classes)
        error = join_shares(leading, texts, by);
    if (leading->class == 0)
        leading->arrived[0] = leading->slots[0];
    return error;
}

static int arrive(struct a2av_call *between, int source, const unsigned char *bytes,
                  uint64_t count)
{
    struct a2av_leading *leading = between->arrive_self;
    int by = a2av_rank_before(between->rank, source, between->ranks);
    unsigned char *kept = a2av_arena_take(&between->arena, count);
    if (!kept)
        return A2AV_NO_MEMORY;
    a2av_copy(kept, bytes, count);
    leading->arrived[by] = (struct a2av_slot){kept, count};
    return 0;
}

int a2av_leading_open(struct a2av_leading *leading, struct a2av_call *call,
                      const struct a2av_nodes *nodes, int class, int classes)
{
    size_t n = (size_t)nodes->count;
    *leading = (struct a2av_leading){
        .between = {.transport = call->transport, .settings = call->settings, .job = call->job,
                    .state = call->state->leaders, .counts = call->counts, .limit = SIZE_MAX,
                    .rank = nodes->node, .ranks = nodes->count, .class = class,
                    .classes = classes, .arrive = arrive, .arrive_self = leading},
        .call = call, .nodes = nodes, .class = class, .classes = classes};
    leading->peers = calloc(n, sizeof *leading->peers);
    leading->slots = calloc(n, sizeof *leading->slots);
    leading->arrived = calloc(n, sizeof *leading->arrived);
    if (!leading->peers || !leading->slots || !leading->arrived)
        return A2AV_NO_MEMORY;
    for (int node = 0; node < nodes->count; node++)
        leading->peers[node] = a2av_member(nodes, node,
                                           a2av_leader_place(nodes, node, class, classes));
    leading->between.peers = leading->peers;
    a2av_state_of_class(call->state->leaders, class, classes);
    return 0;
}

void a2av_leading_close(struct a2av_leading *leading)
{
    a2av_note_scratch(leading->call, leading->between.arena.held +
                                         a2av_state_bytes(leading->between.state) +
                                         leading->call->counts->scratch_bytes);
    a2av_arena_empty(&leading->between.arena);
    free(leading->between.flight.tickets);
    free(leading->peers);
    free(leading->slots);
    free(leading->arrived);
    a2av_state_shrink(leading->between.state);
}

typedef void visit(void *self, int member, uint64_t count, const unsigned char *bytes);

static int visit_share(struct a2av_text *text, int members, visit *each, void *self)
{
    const unsigned char *data, *end;
    struct a2av_length_reader reader = {text->at, text->end, 0};
    int error = find_share(*text, members, &data, &end);
    for (int i = 0; i < members && !error; i++) {
        uint64_t count;
        error = a2av_read_length(&reader, &count);
        each(self, i, count, data);
        data += count;
    }
    if (!error)
        text->at = end;
    return error;
}

/* Visits every block that came to this node, in the order of the strings down. Returns 0 or an
 * error. */
static int visit_all(const struct a2av_leading *leading, visit *each, void *self)
{
    const struct a2av_nodes *nodes = leading->nodes;
    int members = a2av_node_size(nodes, nodes->node), error = 0;
    for (int by = leading->class; by < nodes->count; by += leading->classes) {
        struct a2av_slot slot = leading->arrived[by];
        struct a2av_text text = {slot.bytes, slot.bytes ? slot.bytes + slot.count : NULL};
        int sources = a2av_node_size(nodes, node_before(nodes, by));
        for (int i = 0; i < sources && !error; i++)
            error = visit_share(&text, members, each, self);
        if (error || text.at != text.end)
            return error ? error : A2AV_BAD_MESSAGE;
    }
    return 0;
}

/* Returns the number of blocks that visit_all visits. */
static size_t visited(const struct a2av_leading *leading)
{
    const struct a2av_nodes *nodes = leading->nodes;
    size_t sources = 0;
    for (int by = leading->class; by < nodes->count; by += leading->classes)
        sources += (size_t)a2av_node_size(nodes, node_before(nodes, by));
    return sources * (size_t)a2av_node_size(nodes, nodes->node);
}

static void add_room(void *self, int member, uint64_t count, const unsigned char *bytes)
{
    size_t *room = self;
    (void)bytes;
    room[member] += A2AV_LENGTH_BYTES + count;
}

int a2av_down_room(const struct a2av_leading *leading, size_t *room)
{
    for (int i = 0; i < a2av_node_size(leading->nodes, leading->nodes->node); i++)
        room[i] = 0;
    return visit_all(leading, add_room, room);
}

static void write_block(void *self, int member, uint64_t count, const unsigned char *bytes)
{
    struct a2av_length_writer *writer = (struct a2av_length_writer *)self + member;
    a2av_write_length(writer, count);
    a2av_copy(writer->at, bytes, count);
    writer->at += count;
}

int a2av_write_down(const struct a2av_leading *leading, unsigned char **at)
{
    int members = a2av_node_size(leading->nodes, leading->nodes->node);
    struct a2av_length_writer *writers = calloc((size_t)members, sizeof *writers);
    if (!writers)
        return A2AV_NO_MEMORY;
    for (int i = 0; i < members; i++)
        writers[i].at = at[i];
    int error = visit_all(leading, write_block, writers);
    size_t bytes = 0;
    for (int i = 0; i < members; i++) {
        a2av_end_lengths(&writers[i]);
        bytes += (size_t)(writers[i].at - at[i]);
        at[i] = writers[i].at;
    }
    a2av_note_copied(leading->call, visited(leading), bytes);
    free(writers);
    return error;
}

/* Reads a block of a string down, and delivers it. Returns 0 or an error. */
static int read_block(struct a2av_call *call, struct a2av_length_reader *reader, int source)
{
    uint64_t count;
    int error = a2av_read_length(reader, &count);
    if (error || count > (size_t)(reader->end - reader->at))
        return A2AV_BAD_MESSAGE;
    const unsigned char *bytes = reader->at;
    reader->at += count;
    if (source == call->rank)
        return count == 0 ? 0 : A2AV_BAD_MESSAGE;
    return a2av_arrive(call, source, bytes, count);
}

int a2av_read_down(struct a2av_call *call, const struct a2av_nodes *nodes, int class, int classes,
                   struct a2av_text text)
{
    struct a2av_length_reader reader = {text.at, text.end, 0};
    size_t blocks = 0;
    int error = 0;
    for (int by = class; by < nodes->count; by += classes) {
        int node = node_before(nodes, by), sources = a2av_node_size(nodes, node);
        blocks += (size_t)sources;
        for (int i = 0; i < sources && !error; i++)
            error = read_block(call, &reader, a2av_member(nodes, node, i));
    }
    a2av_note_copied(call, blocks, (size_t)(text.end - text.at));
    if (!error && (reader.at != reader.end || reader.zeros > 0))
        error = A2AV_BAD_MESSAGE;
    return error;
}
