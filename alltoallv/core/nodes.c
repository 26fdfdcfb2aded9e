#include "nodes.h"

#include <stdlib.h>

int a2av_node_size(const struct a2av_nodes *nodes, int node)
{
    return nodes->first[node + 1] - nodes->first[node];
}

int a2av_member(const struct a2av_nodes *nodes, int node, int place)
{
    return nodes->members[nodes->first[node] + place];
}

int a2av_leader_place(const struct a2av_nodes *nodes, int node, int leader, int leaders)
{
    /* Leaders are spread over the node, as its cores have memory and network of different
     * distance. */
    return (int)((long long)leader * a2av_node_size(nodes, node) / leaders);
}

static void fill(struct a2av_nodes *nodes, int ranks, int rank)
{
    for (int i = 0; i < ranks; i++)
        nodes->first[nodes->node_of[i] + 1]++;
    nodes->fewest = ranks;
    for (int node = 0; node < nodes->count; node++) {
        int size = nodes->first[node + 1];
        nodes->most = size > nodes->most ? size : nodes->most;
        nodes->fewest = size < nodes->fewest ? size : nodes->fewest;
        nodes->first[node + 1] += nodes->first[node];
    }
    for (int i = 0; i < ranks; i++) {
        int node = nodes->node_of[i];
        if (i == rank)
            nodes->place = nodes->first[node];
        nodes->members[nodes->first[node]++] = i;
    }
    for (int node = nodes->count; node > 0; node--)
        nodes->first[node] = nodes->first[node - 1];
    nodes->first[0] = 0;
    nodes->place -= nodes->first[nodes->node];
}

struct a2av_nodes *a2av_nodes_new(const struct a2av_transport *transport)
{
    struct a2av_nodes *nodes = calloc(1, sizeof *nodes);
    if (!nodes)
        return NULL;
    size_t ranks = (size_t)transport->size;
    nodes->node_of = transport->node_of;
    nodes->node = nodes->node_of[transport->rank];
    for (size_t i = 0; i < ranks; i++)
        if (nodes->node_of[i] >= nodes->count)
            nodes->count = nodes->node_of[i] + 1;
    nodes->first = calloc((size_t)nodes->count + 1, sizeof *nodes->first);
    nodes->members = calloc(ranks, sizeof *nodes->members);
    if (!nodes->first || !nodes->members) {
        a2av_nodes_free(nodes);
        return NULL;
    }
    fill(nodes, transport->size, transport->rank);
    return nodes;
}

void a2av_nodes_free(struct a2av_nodes *nodes)
{
    if (nodes) {
        free(nodes->first);
        free(nodes->members);
        free(nodes);
    }
}
