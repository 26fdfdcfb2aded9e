/* Turns MPI's arguments into the core's blocks of bytes: displacements, types, MPI_IN_PLACE. */
#ifndef VAS_A2AV_MPI_BLOCKS_H
#define VAS_A2AV_MPI_BLOCKS_H

#include <mpi.h>
#include <stdbool.h>

#include "../core/a2av.h"

/* The arguments of one side of a call, as any of the MPI functions has them. */
struct vas_side {
    const void *base;
    const void *counts; /* int, or MPI_Count with wide */
    const void *displacements; /* int, or MPI_Aint with wide */
    const MPI_Datatype *types; /* one, or one for each rank with by_rank */
    bool wide;
    bool by_rank; /* MPI_Alltoallw: a type for each rank, displacements in bytes */
};

/* The blocks of a call. The arrays are kept between calls. `packed_send` and `packed_receive`
 * hold the blocks that are not plain bytes. */
struct vas_blocks {
    int ranks;
    const unsigned char **send;
    unsigned char **receive;
    size_t *send_bytes, *receive_bytes;
    unsigned char *packed_send, *packed_receive;
};

/* Make and free the arrays of blocks for so many ranks. Making returns 0 or A2AV_NO_MEMORY. */
int vas_blocks_open(struct vas_blocks *, int ranks);
void vas_blocks_close(struct vas_blocks *);

enum { VAS_NO_RANK = -1 };

/* Tells whether the core may do a call with these arguments of a rank; what is wrong with others
 * is for MPI's own function to report. `send` is NULL for MPI_IN_PLACE, `rank` VAS_NO_RANK where
 * it sends nothing to itself. A type that is not committed is not noticed: MPI does not tell. */
bool vas_sides_are_valid(const struct vas_side *send, const struct vas_side *receive, int rank,
                         int ranks);

/* Tells whether nothing can lie at an address: NULL, or a small number. */
bool vas_is_no_address(const void *at);

/* Sets send_bytes alone, without a look at what the buffers contain; `send` is NULL for
 * MPI_IN_PLACE. Returns 0 or an error of MPI. */
int vas_blocks_measure(struct vas_blocks *, const struct vas_side *send,
                       const struct vas_side *receive);

/* Makes the blocks of a call; `send` is NULL for MPI_IN_PLACE. Returns 0 or an error of MPI or
 * of the core. Afterwards vas_blocks_end must be called. */
int vas_blocks_begin(struct vas_blocks *, const struct vas_side *send,
                     const struct vas_side *receive, MPI_Comm);

/* Unpacks the blocks that came, unless `drop`, and frees the packed memory. Returns 0 or an
 * error of MPI. */
int vas_blocks_end(struct vas_blocks *, const struct vas_side *receive, MPI_Comm, bool drop);

#endif
