/* Predicts what a call costs and chooses the cheapest way, from values that all ranks share. The
 * model is the one of vas_a2av/model.py; a test holds the two together. */
#ifndef VAS_A2AV_CHOOSE_H
#define VAS_A2AV_CHOOSE_H

#include "a2av.h"

/* The figures of a machine, in seconds: measured by `vas a2av tune`. */
struct a2av_network {
    double overhead; /* of a message, at each end */
    double latency;  /* from end to end, without overheads */
    double per_byte; /* of a node's link */
    double copy;     /* of a byte, from memory to memory */
    double local;    /* of handing a string to another rank of the node */
};

struct a2av_layout {
    int ranks, nodes, most, fewest; /* of the largest node and of the smallest */
};

/* Returns the figures that are assumed where none were measured. */
struct a2av_network a2av_assumed_network(void);

/* Returns the seconds that are predicted for a call by SLOAV2 or SLOAV2x with these settings;
 * for any other algorithm those of sending each block by itself, as MPI libraries do. */
double a2av_predict(const struct a2av_network *, const struct a2av_layout *,
                    const struct a2av_settings *, const struct a2av_load *);

/* An algorithm is chosen only if it is predicted to need less than this part of the time of
 * MPI's own function: the model may be wrong by as much. */
#define A2AV_WORTH 0.8

/* In a round all ranks send at once over the same distance, so messages share links between nodes:
 * so many, on the simulated torus. Where there are links enough the choice is more careful than it
 * need be. */
#define A2AV_SHARED 4.0

/* Chooses algorithm, radix and leaders for a load. Returns false if MPI's own function is the
 * better choice. */
bool a2av_choose(const struct a2av_network *, const struct a2av_layout *, const struct a2av_load *,
                 struct a2av_settings *);

/* Chooses for equal blocks of so many bytes, as MPI_Alltoall has them, whose size all ranks
 * know. MPI libraries have a logarithmic algorithm of their own for small blocks, so the
 * algorithms are compared with that too. Returns false if MPI's own function is the better
 * choice. */
bool a2av_choose_equal(const struct a2av_network *, const struct a2av_layout *, size_t bytes,
                       struct a2av_settings *);

#endif
