/* Tests whether MPI_Finalize ends a program that calls the explicit API alone, and frees neither
 * its plan nor its communicator. Run on 4 ranks, with VAS_A2AV_MIN_RANKS=2. */
#include <stdio.h>

#include "../include/vas_a2av.h"

enum { RANKS = 4, STARTS = 3 };

int main(int argc, char **argv)
{
    int ranks, rank, wrong = 0, ones[RANKS], at[RANKS], out[RANKS], in[RANKS] = {0};
    MPI_Comm comm;
    VAS_Plan plan;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (ranks != RANKS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < RANKS; i++) {
        ones[i] = 1;
        at[i] = i;
        out[i] = rank * 100 + i;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    VAS_Alltoallv(out, ones, at, MPI_INT, in, ones, at, MPI_INT, comm);
    VAS_Alltoallv(out, ones, at, MPI_INT, in, ones, at, MPI_INT, MPI_COMM_WORLD);
    VAS_Alltoallv_init(out, ones, at, MPI_INT, in, ones, at, MPI_INT, comm, MPI_INFO_NULL, &plan);
    for (int start = 0; start < STARTS; start++)
        VAS_Alltoallv_start(plan);
    for (int i = 0; i < RANKS; i++)
        wrong += in[i] != i * 100 + rank;
    MPI_Finalize();
    return wrong;
}
