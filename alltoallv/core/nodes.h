/* Finds which ranks are together on which node. Nodes may have different numbers of ranks. */
#ifndef VAS_A2AV_NODES_H
#define VAS_A2AV_NODES_H

#include "a2av.h"

struct a2av_nodes {
    int count;           /* number of nodes */
    int node, place;     /* of this rank: its node, and its place among the members */
    int fewest, most;    /* ranks of the smallest node, and of the largest */
    const int *node_of;  /* node of each rank: the transport's array */
    int *first;          /* first entry of each node in `members`; one more for the end */
    int *members;        /* ranks, node by node, growing in each node */
};

/* Finds the nodes of a transport whose node_of is set. Returns NULL without memory. */
struct a2av_nodes *a2av_nodes_new(const struct a2av_transport *);
void a2av_nodes_free(struct a2av_nodes *);

int a2av_node_size(const struct a2av_nodes *, int node);

/* Returns the rank of the member of a node that has this place in it. */
int a2av_member(const struct a2av_nodes *, int node, int place);

/* Returns the place in a node of the leader with this number, of so many that the node has. */
int a2av_leader_place(const struct a2av_nodes *, int node, int leader, int leaders);

#endif
