#include "plain_type.h"

#include <limits.h>
#include <stdint.h>

enum { TAG_ELEMENT = 1 << 10, PIECE = 1 << 30 };

static int is_plain(MPI_Datatype type, bool *plain);

struct envelope {
    MPI_Count integers, types;
    int combiner;
    bool is_large; /* made with large counts: only MPI 4's functions tell of it */
};

/* Asks how a type was made. Returns 0 or an error of MPI. */
static int envelope_of(MPI_Datatype type, struct envelope *made)
{
#if MPI_VERSION >= 4
    MPI_Count addresses, large;
    int error = PMPI_Type_get_envelope_c(type, &made->integers, &addresses, &large, &made->types,
                                         &made->combiner);
    made->is_large = !error && large > 0;
    return error;
#else
    int integers, addresses, types;
    int error = PMPI_Type_get_envelope(type, &integers, &addresses, &types, &made->combiner);
    *made = (struct envelope){integers, types, made->combiner, false};
    return error;
#endif
}

/* Sets `plain` for a duplicate of a type, or elements of it in a row. Returns 0 or an error of
 * MPI. */
static int is_plain_inside(MPI_Datatype type, int integers, bool *plain)
{
    int numbers[1];
    MPI_Aint addresses[1];
    MPI_Datatype inner;
    struct envelope made;
    int error = PMPI_Type_get_contents(type, integers, 0, 1, numbers, addresses, &inner);
    if (!error)
        error = is_plain(inner, plain);
    if (!error)
        error = envelope_of(inner, &made);
    /* The handle of a type that is not predefined is ours to free. */
    if (!error && made.combiner != MPI_COMBINER_NAMED)
        error = PMPI_Type_free(&inner);
    return error;
}

/* Sets `plain`, to true only where it is certain: a type whose size is its extent may still be
 * a permutation. Returns 0 or an error of MPI. */
static int is_plain(MPI_Datatype type, bool *plain)
{
    struct envelope made;
    int error = envelope_of(type, &made);
    *plain = false;
    if (error || made.is_large)
        return error;
    if (made.combiner == MPI_COMBINER_DUP || made.combiner == MPI_COMBINER_CONTIGUOUS)
        return is_plain_inside(type, (int)made.integers, plain);
    if (made.combiner != MPI_COMBINER_NAMED)
        return 0;
    MPI_Aint lower, extent;
    MPI_Count size;
    error = PMPI_Type_get_extent(type, &lower, &extent);
    if (!error)
        error = PMPI_Type_size_x(type, &size);
    /* A pair such as MPI_SHORT_INT has a gap. */
    *plain = !error && lower == 0 && size == (MPI_Count)extent;
    return error;
}

int vas_type_of(MPI_Datatype type, struct vas_type *facts)
{
    MPI_Aint lower, true_extent;
    int error = PMPI_Type_size_x(type, &facts->size);
    if (!error)
        error = PMPI_Type_get_extent(type, &lower, &facts->extent);
    if (!error)
        error = PMPI_Type_get_true_extent(type, &facts->first, &true_extent);
    if (!error && facts->size < 0)
        error = MPI_ERR_TYPE;
    return error ? error : is_plain(type, &facts->plain);
}

/* Makes a type of so many packed bytes. Returns 0 or an error of MPI. */
static int packed_type(MPI_Count bytes, MPI_Datatype *made)
{
    MPI_Datatype types[2] = {MPI_DATATYPE_NULL, MPI_PACKED};
    int pieces = (int)(bytes / PIECE), counts[2] = {pieces, (int)(bytes % PIECE)};
    MPI_Aint at[2] = {0, (MPI_Aint)pieces * PIECE};
    int error = PMPI_Type_contiguous(PIECE, MPI_PACKED, &types[0]);
    if (error)
        return error;
    error = PMPI_Type_create_struct(2, counts, at, types, made);
    PMPI_Type_free(&types[0]);
    if (!error && (error = PMPI_Type_commit(made)))
        PMPI_Type_free(made);
    return error;
}

/* Packs or unpacks an element that is too large for MPI_Pack, by a message of this rank to itself:
 * packed bytes match any type. Returns 0 or an error of MPI. */
static int copy_element(const struct vas_type *facts, MPI_Datatype type, const unsigned char *from,
                        unsigned char *to, bool packs, MPI_Comm comm)
{
    MPI_Datatype packed;
    int rank, error = PMPI_Comm_rank(comm, &rank);
    if (!error)
        error = packed_type(facts->size, &packed);
    if (error)
        return error;
    error = PMPI_Sendrecv(from, 1, packs ? type : packed, rank, TAG_ELEMENT, to, 1,
                          packs ? packed : type, rank, TAG_ELEMENT, comm, MPI_STATUS_IGNORE);
    PMPI_Type_free(&packed);
    return error;
}

/* Returns how many elements one call of MPI_Pack takes, as its sizes are ints: none of 2 GiB. */
static int portion(const struct vas_type *facts, MPI_Count left)
{
    MPI_Count most = facts->size > 0 ? INT_MAX / facts->size : INT_MAX;
    return (int)(left < most ? left : most);
}

static const unsigned char *ahead(const unsigned char *at, MPI_Aint by)
{
    return (const unsigned char *)((uintptr_t)at + (uintptr_t)by);
}

int vas_type_pack(const struct vas_type *facts, MPI_Datatype type, const unsigned char *from,
                  MPI_Count count, unsigned char *to, MPI_Comm comm)
{
    while (count > 0) {
        int now = portion(facts, count), position = 0, error;
        int bytes = now * (int)facts->size;
        if (now == 0)
            error = copy_element(facts, type, from, to, true, comm);
        else if (!(error = PMPI_Pack(from, now, type, to, bytes, &position, comm)))
            error = position == bytes ? 0 : MPI_ERR_TYPE;
        if (error)
            return error;
        now = now == 0 ? 1 : now;
        from = ahead(from, now * facts->extent);
        to += now * facts->size;
        count -= now;
    }
    return 0;
}

int vas_type_unpack(const struct vas_type *facts, MPI_Datatype type, const unsigned char *from,
                    unsigned char *to, MPI_Count count, MPI_Comm comm)
{
    while (count > 0) {
        int now = portion(facts, count), position = 0, error;
        int bytes = now * (int)facts->size;
        if (now == 0)
            error = copy_element(facts, type, from, to, false, comm);
        else
            error = PMPI_Unpack(from, bytes, &position, to, now, type, comm);
        if (error)
            return error;
        now = now == 0 ? 1 : now;
        to = (unsigned char *)(uintptr_t)ahead(to, now * facts->extent);
        from += now * facts->size;
        count -= now;
    }
    return 0;
}
