/* Datatypes of one signature, three ints, laid out in different ways; and types of nothing. */
#ifndef VAS_A2AV_ORACLE_TYPES_H
#define VAS_A2AV_ORACLE_TYPES_H

#include <mpi.h>
#include <stdbool.h>

enum { TYPES = 9, NOTHING = TYPES, NULL_TYPE, ALL_TYPES, UNIT_INTS = 3 };

struct type_kind {
    MPI_Datatype type;
    int per_unit; /* elements of a unit of three ints */
    int extent;   /* bytes */
};

/* Makes the kinds: TYPES of a unit each, then NOTHING, whose elements have a size of 0 bytes and an
 * extent, and NULL_TYPE, which is MPI_DATATYPE_NULL. */
void types_make(struct type_kind kinds[ALL_TYPES]);
void types_free(struct type_kind kinds[ALL_TYPES]);

/* Returns a type with the elements of another, that far from its address. */
MPI_Datatype type_at(MPI_Datatype type, MPI_Aint address);

/* Tells whether the MPI's own MPI_Alltoallw takes MPI_DATATYPE_NULL where there is no element:
 * MPICH does, Open MPI does not. */
bool mpi_takes_null_types(void);

#endif
