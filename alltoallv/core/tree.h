/* A binomial tree over the ranks of a node, with the first of them as its root. */
#ifndef VAS_A2AV_TREE_H
#define VAS_A2AV_TREE_H

#include "local.h"
#include "node_blocks.h"

struct a2av_tree {
    struct a2av_local *local;
    uint64_t *sizes;         /* of the strings of the subtree's members, by growing member */
    struct a2av_buffer data; /* these strings, without a window or where they do not fit */
    int members;             /* ranks of the own subtree, with this one */
};

/* Begin and end the use of a tree. Beginning returns 0 or A2AV_NO_MEMORY. */
int a2av_tree_open(struct a2av_tree *, struct a2av_local *);
void a2av_tree_close(struct a2av_tree *);

/* Brings all members' strings to the root: sizes go up the tree, places in the window go down,
 * and each member writes its string there; without a window the strings go up the tree. The own
 * string, of `count` bytes, is in `data`. Sets a text for each member on the root. Returns 0 or
 * an error. */
int a2av_tree_gather(struct a2av_tree *, size_t count, struct a2av_text *texts);

/* Brings each member its string, which the root has in `data`, with its size in `sizes`; sets
 * `own` to the string of this rank. Returns 0 or an error. */
int a2av_tree_scatter(struct a2av_tree *, struct a2av_text *own);

#endif
