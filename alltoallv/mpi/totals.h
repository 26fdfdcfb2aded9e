/* Counts what was done on one communicator: the calls by each algorithm, and those that were passed
 * to MPI's own function, by reason. */
#ifndef VAS_A2AV_MPI_TOTALS_H
#define VAS_A2AV_MPI_TOTALS_H

#include "../core/a2av.h"

/* The chooser has 30 settings, and the first call may have another. */
enum { VAS_TALLIES = 32 };

/* The reasons for which a call is passed to MPI's own function. */
enum vas_passed {
    VAS_PASSED_ALL,       /* every call on this communicator is */
    VAS_PASSED_CHOICE,    /* predicted or measured to be better so, or timed in a trial */
    VAS_PASSED_EQUAL,     /* an MPI_Alltoall whose blocks MPI exchanges better */
    VAS_PASSED_ARGUMENTS, /* they are wrong, which is MPI's to report */
    VAS_PASSED_REQUESTS,  /* starts of MPI_Alltoallv_init's requests that are MPI's own */
    VAS_PASSED_REASONS
};

/* The calls by one algorithm with one radix and number of leaders, 0 where it has none. */
struct vas_tally {
    enum a2av_algorithm algorithm;
    int radix, leaders;
    unsigned long long calls;
    double seconds;
    struct a2av_counts counts; /* sums over calls; scratch_bytes is the largest of any */
};

struct vas_totals {
    struct vas_tally tallies[VAS_TALLIES];
    int used; /* tallies, in the order of their first calls */
    unsigned long long passed[VAS_PASSED_REASONS];
    unsigned long long reported; /* calls, passed or not, at the last report */
};

/* Adds a call by the core with these settings. */
void vas_totals_add(struct vas_totals *, const struct a2av_settings *,
                    const struct a2av_counts *, double seconds);

/* Returns how many calls there were, passed or not. */
unsigned long long vas_totals_calls(const struct vas_totals *);

/* Returns what all algorithms together did. */
struct a2av_counts vas_totals_counts(const struct vas_totals *);

#endif
