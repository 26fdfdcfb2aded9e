/* The blocks that travel between nodes: a block of a node holds all that its ranks send the ranks
 * of another.
 *
 *   up      from a rank to a leader: for each distance of the leader's class its share
 *   share   lengths of the blocks for each member of the other node, then these blocks
 *   node's  the shares of all members of a node, one after the other
 *   down    from a leader to a rank: for each distance, for each member of the other node, length
 *           and block
 */
#ifndef VAS_A2AV_NODE_BLOCKS_H
#define VAS_A2AV_NODE_BLOCKS_H

#include "local.h"
#include "slots.h"
#include "state.h"

/* The rest of a string that is being read. */
struct a2av_text {
    const unsigned char *at, *end;
};

/* The state of a leader, which serves the distances between nodes with the remainder `class`. */
struct a2av_leading {
    struct a2av_call between; /* the call of its rounds, where ranks are nodes */
    struct a2av_call *call;
    const struct a2av_nodes *nodes;
    int class, classes;
    int *peers;
    struct a2av_slot *slots;   /* by distance: the block that this node sends, or relays */
    struct a2av_slot *arrived; /* by distance: the block that came to this node */
};

/* Begin and end the work of a leader. Beginning returns 0 or A2AV_NO_MEMORY. */
int a2av_leading_open(struct a2av_leading *, struct a2av_call *, const struct a2av_nodes *,
                      int class, int classes);
void a2av_leading_close(struct a2av_leading *);

/* Return the most bytes that a rank's string up to a leader can have; and write that string at
 * `at`, and return its end. */
size_t a2av_up_room(const struct a2av_call *, const struct a2av_nodes *, int class, int classes);
unsigned char *a2av_write_up(const struct a2av_call *, const struct a2av_nodes *, int class,
                             int classes, unsigned char *at);

/* Makes the slots of the rounds from the strings up of all members, which are read to their
 * ends. Returns 0 or an error. */
int a2av_join(struct a2av_leading *, struct a2av_text *texts);

/* Set the most bytes that each member's string down can have; and write these strings at `at`,
 * which is moved to their ends. Both return 0 or an error. */
int a2av_down_room(const struct a2av_leading *, size_t *room);
int a2av_write_down(const struct a2av_leading *, unsigned char **at);

/* Delivers the blocks of a string down from a leader. Returns 0 or an error. */
int a2av_read_down(struct a2av_call *, const struct a2av_nodes *, int class, int classes,
                   struct a2av_text text);

#endif
