/* A binomial tree over the ranks of a node, with the first of them as its root. */
#ifndef VAS_A2AV_TREE_H
#define VAS_A2AV_TREE_H

#include "local.h"
#include "node_blocks.h"

struct a2av_tree {
    struct a2av_local *local;
    uint64_t *sizes;         /* of the strings of the own subtree's members, by growing member */
    struct a2av_buffer data; /* their bytes, where there is no window or they do not fit */
    int members;             /* of the subtree */
};

int a2av_tree_open(struct a2av_tree *, struct a2av_local *);
void a2av_tree_close(struct a2av_tree *);

/* Brings all members' strings to the root: sizes go up the tree, places in the window down, and
 * each writes there; without a window the bytes go up the tree. The own string is in `data`. Sets
 * a text for each member on the root. */
int a2av_tree_gather(struct a2av_tree *, size_t count, struct a2av_text *texts);

/* Brings each member its string, which the root has in `data`, with its size in `sizes`. */
int a2av_tree_scatter(struct a2av_tree *, struct a2av_text *own);

#endif
