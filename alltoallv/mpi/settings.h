/* The settings in the environment: VAS_A2AV and its like. docs/alltoallv.md has the table. */
#ifndef VAS_A2AV_MPI_SETTINGS_H
#define VAS_A2AV_MPI_SETTINGS_H

#include <stdbool.h>

#include "../core/a2av.h"

struct vas_settings {
    struct a2av_settings core;
    bool off, report;
    bool chooses;   /* the model does, from call to call; the algorithm is that of the first one */
    int min_ranks;  /* smaller communicators are MPI's own */
    int node_ranks; /* no more ranks of a machine are one node; 0: all of them */
};

/* Reads the environment. A value that cannot be used is named on stderr, and switches off: an
 * unclear choice is none. */
struct vas_settings vas_settings_from_environment(void);

#endif
