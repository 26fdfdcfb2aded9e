/* Decides which block travels in which round, for any radix.
 *
 * A block's distance is (destination - source) mod P. In the rounds of digit position x, whose
 * weight is radix^x, the blocks whose distance has digit z there go z * weight ranks further.
 * Rounds of one position move disjoint blocks, so they may overlap in time. */
#ifndef VAS_A2AV_SCHEDULE_H
#define VAS_A2AV_SCHEDULE_H

#include <stdbool.h>

struct a2av_round {
    int weight, digit; /* weight of the digit position; digit, 1 .. radix - 1 */
    int index;         /* number of the round, from 0 */
};

/* Set the first round of so many ranks, and the one after. Both return false when there is
 * none. */
bool a2av_first_round(struct a2av_round *, int ranks);
bool a2av_next_round(struct a2av_round *, int radix, int ranks);

/* Returns the number of rounds of so many ranks. */
int a2av_rounds(int radix, int ranks);

/* Return the first distance that travels in a round, and the one after `distance`; `ranks` if
 * there is none. */
int a2av_first_distance(const struct a2av_round *);
int a2av_next_distance(const struct a2av_round *, int radix, int ranks, int distance);

/* Tells whether a block of this distance is at its destination after the round. */
bool a2av_arrives(const struct a2av_round *, int radix, int distance);

/* Tells whether a block of this distance has not travelled before the round. */
bool a2av_departs(const struct a2av_round *, int distance);

/* Return the rank that is `by` ranks after or before another; `by` is below `ranks`. */
int a2av_rank_after(int rank, int by, int ranks);
int a2av_rank_before(int rank, int by, int ranks);

#endif
