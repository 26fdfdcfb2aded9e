/* Runs all ranks of a call as threads of one process, and compares every byte. */
#ifndef VAS_A2AV_TESTS_SHAPES_H
#define VAS_A2AV_TESTS_SHAPES_H

#include <stdbool.h>

#include "../core/a2av.h"
#include "../core/load.h"

#define CHECK(what) ((what) ? (void)0 : fail(#what, __LINE__))

/* Ends the program with status 1, and names what is not true. */
void fail(const char *what, int line);

struct shape {
    int ranks, calls;
    size_t bytes, hot; /* of each block; if not 0, of the one from rank 0 to the last */
    bool uneven;       /* block sizes from 0 to bytes */
    int nodes;         /* number of nodes; 0: none are known */
    bool planned;      /* sizes are promised to be the same in each call */
    bool shared;       /* the ranks of a node share memory */
    const int *sizes;  /* unless NULL: ranks of each node, in a row */
    int other_leaders; /* unless 0: leaders in every second call */
    struct a2av_settings settings;
};

/* Returns a shape of two calls, with equal blocks and no nodes. */
struct shape shape_of(int ranks, size_t bytes, enum a2av_algorithm algorithm, int radix);

/* Runs all ranks twice, with messages that are copied when their send starts, and with ones that
 * are read as late as MPI may. Returns what rank 0 counted in the last call, which must be the same;
 * the memory is the most of any rank. `between`, unless it is NULL, gets the number of messages from
 * node to node in all calls, `load` what the ranks know of one another's load. */
struct a2av_counts run_loaded(const struct shape *shape, uint64_t *between, struct a2av_load *load);
struct a2av_counts run_nodes(const struct shape *shape, uint64_t *between);
struct a2av_counts run_all(const struct shape *shape);

#endif
