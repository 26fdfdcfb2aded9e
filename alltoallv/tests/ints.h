/* Blocks of ints, one for each rank, whose values tell who sends them to whom. */
#ifndef VAS_A2AV_TESTS_INTS_H
#define VAS_A2AV_TESTS_INTS_H

#include <stdbool.h>
#include <stdlib.h>

#include "check.h"

/* One side of a call, with an int that is nobody's behind each block. */
struct ints {
    int ranks, size;
    int *counts, *at, *bytes_at; /* displacements in ints and in bytes */
    int *values;                 /* -1 until they are filled or received */
    MPI_Datatype *types;
};

/* Returns the number of ints that one rank sends another. */
typedef int ints_count(int from, int to);

static inline struct ints ints_of(int ranks, int rank, ints_count *count, bool sends)
{
    size_t n = (size_t)ranks;
    struct ints made = {.ranks = ranks, .counts = calloc(3 * n, sizeof(int))};
    made.at = made.counts + n;
    made.bytes_at = made.at + n;
    made.types = calloc(n, sizeof *made.types);
    for (int i = 0; i < ranks; i++) {
        made.counts[i] = sends ? count(rank, i) : count(i, rank);
        made.at[i] = made.size;
        made.bytes_at[i] = made.size * (int)sizeof(int);
        made.types[i] = MPI_INT;
        made.size += made.counts[i] + 1;
    }
    made.values = malloc((size_t)made.size * sizeof(int));
    for (int i = 0; i < made.size; i++)
        made.values[i] = -1;
    return made;
}

static inline int ints_value(int from, int to, int i)
{
    return from * 1000003 + to * 10007 + i;
}

static inline void ints_fill(const struct ints *side, int rank)
{
    for (int to = 0; to < side->ranks; to++)
        for (int i = 0; i < side->counts[to]; i++)
            side->values[side->at[to] + i] = ints_value(rank, to, i);
}

/* Checks every block that a rank received, and that what is nobody's is as it was. */
static inline void ints_check(const struct ints *side, int rank)
{
    for (int from = 0; from < side->ranks; from++) {
        for (int i = 0; i < side->counts[from]; i++)
            CHECK(side->values[side->at[from] + i] == ints_value(from, rank, i));
        CHECK(side->values[side->at[from] + side->counts[from]] == -1);
    }
}

static inline void ints_free(struct ints *side)
{
    free(side->counts);
    free(side->types);
    free(side->values);
}

#endif
