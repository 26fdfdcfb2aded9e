/* Measures the cost of a call that the library passes on to MPI's own function, as it does on a
 * communicator of one rank.
 *
 *   mpiexec -n 1 overhead
 *
 * Prints a line of JSON: nanoseconds of a call by the library and by PMPI_Alltoallv, each the
 * shortest of many rounds, as other work on a machine can only make them longer. */
#include <stdio.h>

#include "../include/vas_a2av.h"

enum { ROUNDS = 200, CALLS = 2000 };

typedef int alltoallv(const void *, const int[], const int[], MPI_Datatype, void *, const int[],
                      const int[], MPI_Datatype, MPI_Comm);

static double seconds_of(alltoallv *function)
{
    int count = 1, at = 0;
    char out = 1, in = 0;
    double started = MPI_Wtime();
    for (int i = 0; i < CALLS; i++)
        function(&out, &count, &at, MPI_CHAR, &in, &count, &at, MPI_CHAR, MPI_COMM_SELF);
    return (MPI_Wtime() - started) / CALLS;
}

int main(int argc, char **argv)
{
    double ours = 1, own = 1;
    MPI_Init(&argc, &argv);
    for (int round = 0; round < ROUNDS; round++) {
        double seconds = seconds_of(VAS_Alltoallv), other = seconds_of(PMPI_Alltoallv);
        ours = seconds < ours ? seconds : ours;
        own = other < own ? other : own;
    }
    printf("{\"library_ns\": %.1f, \"mpi_ns\": %.1f}\n", ours * 1e9, own * 1e9);
    MPI_Finalize();
    return 0;
}
