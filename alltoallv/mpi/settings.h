/* Reads the settings in the environment: VAS_A2AV and those that begin with VAS_A2AV_.
 * docs/alltoallv.md has the table. */
#ifndef VAS_A2AV_MPI_SETTINGS_H
#define VAS_A2AV_MPI_SETTINGS_H

#include <stdbool.h>

#include "../core/a2av.h"

enum vas_report { VAS_REPORT_NONE, VAS_REPORT_LINES, VAS_REPORT_JSON };

struct vas_settings {
    struct a2av_settings core;
    bool off;
    enum vas_report report;
    bool chooses;   /* the model chooses from call to call; `core` is for the first call */
    int min_ranks;  /* smaller communicators are MPI's own */
    int node_ranks; /* most ranks of a machine that are one node; 0: all of them */
};

/* Returns the settings of the environment. A value that cannot be used is named on stderr, and
 * switches the library off: an unclear choice is none. */
struct vas_settings vas_settings_from_environment(void);

#endif
