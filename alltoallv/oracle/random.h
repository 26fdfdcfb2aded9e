/* Makes random numbers that every rank can compute for itself: a hash of the case and of what
 * is asked. */
#ifndef VAS_A2AV_ORACLE_RANDOM_H
#define VAS_A2AV_ORACLE_RANDOM_H

#include <stdint.h>

struct dice {
    uint64_t state;
};

static inline uint64_t dice_next(struct dice *dice)
{
    uint64_t z = (dice->state += 0x9E3779B97F4A7C15u); /* SplitMix64 */
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Returns a number from 0 to below - 1. */
static inline int dice_below(struct dice *dice, int below)
{
    return (int)(dice_next(dice) % (uint64_t)below);
}

static inline struct dice dice_of(uint64_t seed, uint64_t a, uint64_t b)
{
    struct dice dice = {seed * 0x2545F4914F6CDD1Du + a * 0x9E3779B1u + b * 0x85EBCA77C2B2AE63u};
    dice_next(&dice);
    return dice;
}

#endif
