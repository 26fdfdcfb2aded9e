#include "types.h"

#include <stddef.h>

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
    const MPI_Aint around[] = {-2 * INT, 0, 3 * INT}, behind[] = {2 * INT, 4 * INT};
    const int one_two[] = {1, 2};
    const MPI_Datatype ints[] = {MPI_INT, MPI_INT};
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
    case 7: /* begins behind its address, and so does its extent */
        MPI_Type_create_struct(2, one_two, behind, ints, &type);
        return type;
    case NOTHING:
        MPI_Type_contiguous(0, MPI_INT, &type);
        return resized(type, 0, 2 * INT);
    default: /* elements that overlap in extent, in columns */
        MPI_Type_vector(3, 1, 8, MPI_INT, &type);
        return resized(type, 0, 17 * INT);
    }
}

void types_make(struct type_kind kinds[ALL_TYPES])
{
    for (int i = 0; i < NULL_TYPE; i++) {
        MPI_Aint lower, extent;
        kinds[i].type = i == 0 ? MPI_INT : make(i);
        if (i > 0)
            MPI_Type_commit(&kinds[i].type);
        MPI_Type_get_extent(kinds[i].type, &lower, &extent);
        kinds[i].per_unit = i == 0 ? UNIT_INTS : 1;
        kinds[i].extent = (int)extent;
    }
    kinds[NULL_TYPE] = (struct type_kind){.type = MPI_DATATYPE_NULL};
}

void types_free(struct type_kind kinds[ALL_TYPES])
{
    for (int i = 1; i < NULL_TYPE; i++)
        MPI_Type_free(&kinds[i].type);
}

MPI_Datatype type_at(MPI_Datatype type, MPI_Aint address)
{
    const int one = 1;
    MPI_Datatype moved;
    MPI_Type_create_hindexed(1, &one, &address, type, &moved);
    MPI_Type_commit(&moved);
    return moved;
}

bool mpi_takes_null_types(void)
{
    const int none = 0;
    const MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Comm alone;
    MPI_Comm_dup(MPI_COMM_SELF, &alone);
    MPI_Comm_set_errhandler(alone, MPI_ERRORS_RETURN);
    int error = PMPI_Alltoallw(&none, &none, &none, &type, NULL, &none, &none, &type, alone);
    MPI_Comm_free(&alone);
    return error == MPI_SUCCESS;
}
