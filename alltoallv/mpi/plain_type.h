/* The facts of a datatype that the blocks need, and packing without the limit of an int. */
#ifndef VAS_A2AV_MPI_PLAIN_TYPE_H
#define VAS_A2AV_MPI_PLAIN_TYPE_H

#include <mpi.h>
#include <stdbool.h>

struct vas_type {
    MPI_Count size;  /* of the data, bytes */
    MPI_Aint extent; /* from one element to the next, bytes */
    MPI_Aint first;  /* where the data of an element begin, bytes from its address */
    bool plain;      /* elements in a row are the bytes that travel */
};

/* Finds the facts of a datatype. Returns 0 or an error of MPI. */
int vas_type_of(MPI_Datatype, struct vas_type *);

/* Pack or unpack `count` elements of a datatype, of any size. The communicator is the library's
 * own. Both return 0 or an error of MPI. */
int vas_type_pack(const struct vas_type *, MPI_Datatype, const unsigned char *from,
                  MPI_Count count, unsigned char *to, MPI_Comm);
int vas_type_unpack(const struct vas_type *, MPI_Datatype, const unsigned char *from,
                    unsigned char *to, MPI_Count count, MPI_Comm);

#endif
