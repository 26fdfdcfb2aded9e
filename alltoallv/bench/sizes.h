/* Distributions of block sizes, which all ranks can compute. */
#ifndef VAS_A2AV_BENCH_SIZES_H
#define VAS_A2AV_BENCH_SIZES_H

#include <string.h>

#include "../oracle/random.h"

/* Returns the bytes that one rank sends another; `bytes` is the largest block. */
static inline int size_of(const char *distribution, int bytes, uint64_t seed, int from, int to,
                          int ranks)
{
    struct dice dice = dice_of(seed, (uint64_t)from, (uint64_t)to);
    if (strcmp(distribution, "equal") == 0)
        return bytes;
    if (strcmp(distribution, "uniform") == 0)
        return dice_below(&dice, bytes + 1);
    if (strcmp(distribution, "normal") == 0) { /* Irwin-Hall of four, around the half */
        int64_t sum = 0;
        for (int i = 0; i < 4; i++)
            sum += dice_below(&dice, bytes + 1);
        return (int)(sum / 4);
    }
    if (strcmp(distribution, "power-law") == 0)
        return bytes / (1 + dice_below(&dice, bytes + 1));
    return from == to || (to + 1) % ranks != from % ranks ? bytes / 64 : bytes; /* one-hot */
}

#endif
