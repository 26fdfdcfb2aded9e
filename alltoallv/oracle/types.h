/* Datatypes of one signature, three ints, laid out in different ways. */
#ifndef VAS_A2AV_ORACLE_TYPES_H
#define VAS_A2AV_ORACLE_TYPES_H

#include <mpi.h>

enum { TYPES = 8, UNIT_INTS = 3 };

struct type_kind {
    MPI_Datatype type;
    int per_unit; /* elements of a unit of three ints */
    int extent;   /* bytes */
};

void types_make(struct type_kind kinds[TYPES]);
void types_free(struct type_kind kinds[TYPES]);

#endif
