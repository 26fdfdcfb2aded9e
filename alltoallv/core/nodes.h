/* Finds which ranks are together on which node. Nodes may have different numbers of ranks. */
#ifndef VAS_A2AV_NODES_H
#define VAS_A2AV_NODES_H

#include "a2av.h"

struct a2av_nodes {
    int count;           /* of nodes */
    int node, place;     /* of this rank: its node, and which of its members it is */
    int fewest, most;    /* ranks of a node */
    const int *node_of;  /* of each rank: the transport's */
    int *first;          /* of each node: its first entry in `members`; one more for the end */
    int *members;        /* ranks, node by node, growing in each */
};

/* Returns NULL without memory. */
struct a2av_nodes *a2av_nodes_new(const struct a2av_transport *);
void a2av_nodes_free(struct a2av_nodes *);

int a2av_node_size(const struct a2av_nodes *, int node);

/* The rank that is the member of a node with this number. */
int a2av_member(const struct a2av_nodes *, int node, int place);

/* The member that is the leader with this number, of so many that the node has. */
int a2av_leader_place(const struct a2av_nodes *, int node, int leader, int leaders);

#endif
