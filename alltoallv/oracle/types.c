#include "types.h"

enum { INT = (int)sizeof(int) };

static MPI_Datatype resized(MPI_Datatype inner, MPI_Aint lower, MPI_Aint extent)
{
    MPI_Datatype type;
    MPI_Type_create_resized(inner, lower, extent, &type);
    MPI_Type_free(&inner);
    return type;
}

static MPI_Datatype make(int kind)
{
    const int ones[] = {1, 1, 1}, permuted[] = {2, 0, 1};
    const MPI_Aint around[] = {-2 * INT, 0, 3 * INT};
    MPI_Datatype type, inner;
    switch (kind) {
    case 1:
        MPI_Type_contiguous(3, MPI_INT, &type);
        return type;
    case 2: /* with gaps */
        MPI_Type_vector(3, 1, 2, MPI_INT, &type);
        return resized(type, 0, 7 * INT);
    case 3: /* as large as its extent, and yet not the bytes in a row */
        MPI_Type_indexed(3, ones, permuted, MPI_INT, &type);
        return type;
    case 4: /* begins before its address */
        MPI_Type_create_hindexed(3, ones, around, MPI_INT, &type);
        return resized(type, -2 * INT, 6 * INT);
    case 5: /* plain in a roundabout way */
        MPI_Type_contiguous(3, MPI_INT, &inner);
        MPI_Type_dup(inner, &type);
        MPI_Type_free(&inner);
        return type;
    case 6: /* made with a large count, of which only MPI 4's functions may be asked */
#if MPI_VERSION >= 4
        MPI_Type_contiguous_c(3, MPI_INT, &inner);
#else
        MPI_Type_contiguous(3, MPI_INT, &inner);
#endif
        MPI_Type_dup(inner, &type);
        MPI_Type_free(&inner);
        return type;
    default: /* elements that overlap in extent, in columns */
        MPI_Type_vector(3, 1, 8, MPI_INT, &type);
        return resized(type, 0, 17 * INT);
    }
}

void types_make(struct type_kind kinds[TYPES])
{
    for (int i = 0; i < TYPES; i++) {
        MPI_Aint lower, extent;
        kinds[i].type = i == 0 ? MPI_INT : make(i);
        if (i > 0)
            MPI_Type_commit(&kinds[i].type);
        MPI_Type_get_extent(kinds[i].type, &lower, &extent);
        kinds[i].per_unit = i == 0 ? UNIT_INTS : 1;
        kinds[i].extent = (int)extent;
    }
}

void types_free(struct type_kind kinds[TYPES])
{
    for (int i = 1; i < TYPES; i++)
        MPI_Type_free(&kinds[i].type);
}
