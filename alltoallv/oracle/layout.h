/* Makes random cases: how many units each rank sends each, and where they lie in its buffers. */
#ifndef VAS_A2AV_ORACLE_LAYOUT_H
#define VAS_A2AV_ORACLE_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "../mpi/blocks.h"
#include "random.h"
#include "types.h"

/* The facts of a case that all its ranks know. */
struct oracle_case {
    uint64_t seed;
    int number, ranks;
    bool in_place, by_rank, wide, null_if_empty;
    bool overlaps;  /* blocks that are sent may lie over one another */
    bool bottom;    /* MPI_BOTTOM, and types or displacements with whole addresses */
    bool null_type; /* MPI_DATATYPE_NULL where there is no element, with a type for each rank */
    int pattern, huge_from, huge_to;
};

/* Returns the case with this number, which is the same for equal arguments; `null_types`: the MPI
 * takes MPI_DATATYPE_NULL. */
struct oracle_case case_of(uint64_t seed, int number, int ranks, bool null_types);

/* Returns the number of units that one rank sends another. */
int case_units(const struct oracle_case *, int from, int to);

/* One side of one rank: its arguments in both widths, and the size of a buffer that holds the
 * blocks. */
struct layout {
    int *counts, *displacements;
    MPI_Count *wide_counts;
    MPI_Aint *wide_displacements;
    MPI_Datatype *types;
    size_t margin, bytes; /* bytes before the address that is passed; of the whole buffer */
    bool empty, moved;    /* moved: the types are the layout's own */
};

void layout_make(struct layout *, const struct oracle_case *, const struct type_kind *, int rank,
                 bool sends);
void layout_free(struct layout *, const struct oracle_case *);

/* Changes the arguments to those of MPI_BOTTOM, for a buffer whose address is `base`. */
void layout_move_to_bottom(struct layout *, const struct oracle_case *, const void *base);

/* Returns the arguments of a side; `base` is the address that is passed. */
struct vas_side layout_side(const struct layout *, const struct oracle_case *, const void *base);

#endif
