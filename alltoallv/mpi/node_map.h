/* The nodes of a communicator's ranks, and memory that the ranks of a node share. */
#ifndef VAS_A2AV_MPI_NODE_MAP_H
#define VAS_A2AV_MPI_NODE_MAP_H

#include <mpi.h>
#include <stdbool.h>

#include "../core/a2av.h"

struct vas_node_map {
    int *node_of; /* by rank; NULL where it is not known */
    struct a2av_window window;
    unsigned char **parts; /* by the node's ranks; NULL where they share no memory */
    bool crowded; /* a machine has more ranks than cores */
    int machine_ranks; /* ranks of the communicator on this machine */
    int patience; /* of a rank that waits for another of its node */
    bool shared;  /* whether shared memory was asked for */
    MPI_Comm node;
    MPI_Win memory;
#ifdef VAS_A2AV_SIMULATED
    unsigned char *own; /* this rank's part */
#endif
};

/* Returns a map of nothing, which may be closed. */
struct vas_node_map vas_node_map_closed(void);

/* Takes the memory of a map of so many ranks. Returns 0 or A2AV_NO_MEMORY. */
int vas_node_map_reserve(struct vas_node_map *, int ranks);

/* Finds the nodes of a communicator's ranks; collective over the communicator, on all of whose
 * ranks the memory is reserved. At most `node_ranks` ranks of a machine are one node; 0: all of
 * them are. Returns 0 or an error of MPI. */
int vas_node_map_open(struct vas_node_map *, MPI_Comm, int node_ranks);

/* Makes the memory that the ranks of a node share, half a MiB for each rank, at the first call;
 * collective over the communicator. Returns false where a node has none, or no room for it in
 * /dev/shm: then no node has. */
bool vas_node_map_share(struct vas_node_map *, MPI_Comm);

/* Frees a map; collective over the ranks of each node. With `ended`, which says that MPI is
 * about to be finalized, it frees memory only. */
void vas_node_map_close(struct vas_node_map *, bool ended);

#endif
