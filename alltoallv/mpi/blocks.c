#include "blocks.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "plain_type.h"

/* One block as the caller describes it. */
struct part {
    unsigned char *at; /* where its first element lies: the address that MPI_Pack takes */
    MPI_Count count;
    MPI_Datatype type;
    struct vas_type facts;
};

static MPI_Count count_of(const struct vas_side *side, int rank)
{
    return side->wide ? ((const MPI_Count *)side->counts)[rank]
                      : ((const int *)side->counts)[rank];
}

static MPI_Aint displacement_of(const struct vas_side *side, int rank)
{
    return side->wide ? ((const MPI_Aint *)side->displacements)[rank]
                      : ((const int *)side->displacements)[rank];
}

/* Reads a block of a side. `part` holds the previous rank's block, whose type is not asked for
 * again. Returns 0 or an error of MPI. */
static int read_part(const struct vas_side *side, int rank, struct part *part)
{
    MPI_Datatype type = side->types[side->by_rank ? rank : 0];
    part->count = count_of(side, rank);
    if (rank == 0 || type != part->type) {
        /* MPI_Alltoallw allows any type where there is nothing. */
        int error = part->count == 0 && side->by_rank ? 0 : vas_type_of(type, &part->facts);
        if (error)
            return error;
        part->type = part->count == 0 && side->by_rank ? MPI_DATATYPE_NULL : type;
    }
    /* As numbers: MPI_BOTTOM is NULL, and pointer arithmetic on it undefined. */
    MPI_Aint unit = side->by_rank ? 1 : part->facts.extent;
    uintptr_t at = (uintptr_t)side->base;
    part->at = (unsigned char *)(at + (uintptr_t)(displacement_of(side, rank) * unit));
    return 0;
}

static size_t bytes_of(const struct part *part)
{
    return part->count == 0 ? 0 : (size_t)part->count * (size_t)part->facts.size;
}

bool vas_is_no_address(const void *at)
{
    enum { FIRST_PAGE = 4096 };
    return (uintptr_t)at < FIRST_PAGE;
}

/* Tells whether a block would be read or written at no address. MPI_BOTTOM is NULL: with it, types
 * have the addresses. */
static bool has_no_address(const struct vas_side *side, int ranks)
{
    struct part part = {0};
    for (int rank = 0; rank < ranks; rank++)
        if (read_part(side, rank, &part) ||
            (bytes_of(&part) > 0 &&
             vas_is_no_address((void *)((uintptr_t)part.at + (uintptr_t)part.facts.first))))
            return true;
    return false;
}

static bool side_is_valid(const struct vas_side *side, int ranks)
{
    if (!side->counts || !side->displacements || !side->types || side->base == MPI_IN_PLACE)
        return false;
    for (int rank = 0; rank < ranks; rank++) {
        MPI_Count count = count_of(side, rank);
        bool typed = !side->by_rank || count != 0;
        if (count < 0 || (typed && side->types[side->by_rank ? rank : 0] == MPI_DATATYPE_NULL))
            return false;
    }
    return side->base || !has_no_address(side, ranks);
}

/* Tells whether this rank's block for itself would be copied to the place where it lies. Other
 * blocks of the two sides may be parts of one buffer. */
static bool copies_in_place(const struct vas_side *send, const struct vas_side *receive, int rank)
{
    MPI_Count size;
    if (rank == VAS_NO_RANK || !send->base || send->base != receive->base)
        return false;
    MPI_Datatype type = receive->types[receive->by_rank ? rank : 0];
    return count_of(send, rank) > 0 && count_of(receive, rank) > 0 &&
           displacement_of(send, rank) == displacement_of(receive, rank) &&
           send->types[send->by_rank ? rank : 0] == type &&
           PMPI_Type_size_x(type, &size) == MPI_SUCCESS && size > 0;
}

bool vas_sides_are_valid(const struct vas_side *send, const struct vas_side *receive, int rank,
                         int ranks)
{
    return side_is_valid(receive, ranks) &&
           (!send || (side_is_valid(send, ranks) && !copies_in_place(send, receive, rank)));
}

/* Lets a part that begins at NULL, as those of MPI_BOTTOM may, begin behind it, by a type that goes
 * as far back: MPI_Pack of MPICH refuses NULL. `made` is the type to free, or MPI_DATATYPE_NULL.
 * Returns 0 or an error of MPI. */
static int leave_null(struct part *part, MPI_Datatype *made)
{
    const int one = 1;
    const MPI_Aint back = -64;
    *made = MPI_DATATYPE_NULL;
    if (part->at)
        return 0;
    int error = PMPI_Type_create_hindexed(1, &one, &back, part->type, made);
    if (error)
        return error;
    part->at = (unsigned char *)(uintptr_t)-back;
    part->type = *made;
    return PMPI_Type_commit(made);
}

/* Packs a part that is not plain into bytes, or with `unpacks` the bytes into the part. Returns 0
 * or an error of MPI. */
static int convert(struct part part, unsigned char *bytes, bool unpacks, MPI_Comm comm)
{
    MPI_Datatype made;
    int error = leave_null(&part, &made);
    if (!error && unpacks)
        error = vas_type_unpack(&part.facts, part.type, bytes, part.at, part.count, comm);
    else if (!error)
        error = vas_type_pack(&part.facts, part.type, part.at, part.count, bytes, comm);
    if (made != MPI_DATATYPE_NULL)
        PMPI_Type_free(&made);
    return error;
}

static int pack(const struct part *part, unsigned char *to, MPI_Comm comm)
{
    if (!part->facts.plain)
        return convert(*part, to, false, comm);
    memcpy(to, (unsigned char *)((uintptr_t)part->at + (uintptr_t)part->facts.first),
           bytes_of(part));
    return 0;
}

/* Sets the sizes of all blocks, the addresses of those that are plain bytes, and `packed` to
 * the bytes of the others. Returns 0 or an error. */
static int survey(const struct vas_side *side, int ranks, unsigned char **at, size_t *bytes,
                  bool pack_all, size_t *packed)
{
    struct part part = {0};
    *packed = 0;
    for (int rank = 0; rank < ranks; rank++) {
        int error = read_part(side, rank, &part);
        if (error)
            return error;
        bytes[rank] = bytes_of(&part);
        at[rank] = NULL;
        if (bytes[rank] == 0)
            continue;
        if (part.facts.plain && !pack_all)
            at[rank] = (unsigned char *)((uintptr_t)part.at + (uintptr_t)part.facts.first);
        else if (__builtin_add_overflow(*packed, bytes[rank], packed))
            return A2AV_NO_MEMORY;
    }
    return 0;
}

/* Gives the blocks that are not plain their places in the packed memory. Returns 0 or
 * A2AV_NO_MEMORY. */
static int place(int ranks, unsigned char **at, const size_t *bytes, size_t packed,
                 unsigned char **memory)
{
    *memory = NULL;
    if (packed == 0)
        return 0;
    unsigned char *next = *memory = malloc(packed);
    if (!next)
        return A2AV_NO_MEMORY;
    for (int rank = 0; rank < ranks; rank++)
        if (bytes[rank] > 0 && !at[rank]) {
            at[rank] = next;
            next += bytes[rank];
        }
    return 0;
}

static bool is_in(const unsigned char *at, const unsigned char *memory, size_t bytes)
{
    return memory && (uintptr_t)at >= (uintptr_t)memory &&
           (uintptr_t)at - (uintptr_t)memory < bytes;
}

static int fill(const struct vas_side *side, struct vas_blocks *blocks, size_t packed,
                MPI_Comm comm)
{
    struct part part = {0};
    for (int rank = 0; rank < blocks->ranks; rank++) {
        int error = read_part(side, rank, &part);
        if (!error && blocks->send_bytes[rank] > 0 &&
            is_in(blocks->send[rank], blocks->packed_send, packed))
            error = pack(&part, (unsigned char *)(uintptr_t)blocks->send[rank], comm);
        if (error)
            return error;
    }
    return 0;
}

int vas_blocks_measure(struct vas_blocks *blocks, const struct vas_side *send,
                       const struct vas_side *receive)
{
    size_t packed;
    return survey(send ? send : receive, blocks->ranks, (unsigned char **)blocks->send,
                  blocks->send_bytes, !send, &packed);
}

int vas_blocks_begin(struct vas_blocks *blocks, const struct vas_side *send,
                     const struct vas_side *receive, MPI_Comm comm)
{
    size_t packed;
    int ranks = blocks->ranks;
    unsigned char **send_at = (unsigned char **)blocks->send;
    blocks->packed_send = blocks->packed_receive = NULL;
    int error = survey(receive, ranks, blocks->receive, blocks->receive_bytes, false, &packed);
    if (!error)
        error = place(ranks, blocks->receive, blocks->receive_bytes, packed,
                      &blocks->packed_receive);
    const struct vas_side *from = send ? send : receive;
    if (!error)
        error = survey(from, ranks, send_at, blocks->send_bytes, !send, &packed);
    if (!error)
        error = place(ranks, send_at, blocks->send_bytes, packed, &blocks->packed_send);
    return error ? error : fill(from, blocks, packed, comm);
}

int vas_blocks_end(struct vas_blocks *blocks, const struct vas_side *receive, MPI_Comm comm,
                   bool drop)
{
    struct part part = {0};
    int error = 0;
    for (int rank = 0; rank < blocks->ranks && blocks->packed_receive && !drop && !error; rank++) {
        error = read_part(receive, rank, &part);
        if (!error && blocks->receive_bytes[rank] > 0 && !part.facts.plain)
            error = convert(part, blocks->receive[rank], true, comm);
    }
    free(blocks->packed_send);
    free(blocks->packed_receive);
    blocks->packed_send = blocks->packed_receive = NULL;
    return error;
}

int vas_blocks_open(struct vas_blocks *blocks, int ranks)
{
    size_t n = (size_t)ranks;
    *blocks = (struct vas_blocks){.ranks = ranks};
    blocks->send = calloc(n, sizeof *blocks->send);
    blocks->receive = calloc(n, sizeof *blocks->receive);
    blocks->send_bytes = calloc(n, sizeof *blocks->send_bytes);
    blocks->receive_bytes = calloc(n, sizeof *blocks->receive_bytes);
    if (blocks->send && blocks->receive && blocks->send_bytes && blocks->receive_bytes)
        return 0;
    vas_blocks_close(blocks);
    return A2AV_NO_MEMORY;
}

void vas_blocks_close(struct vas_blocks *blocks)
{
    free(blocks->send);
    free(blocks->receive);
    free(blocks->send_bytes);
    free(blocks->receive_bytes);
    *blocks = (struct vas_blocks){0};
}
