/* Exchanges a number between all ranks by the installed library. */
#include <vas_a2av.h>
int main(int argc, char **argv)
{
    int ranks, rank, wrong = 0, ones[64], at[64], out[64], in[64];
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < ranks; i++) {
        ones[i] = 1;
        at[i] = i;
        out[i] = rank * 100 + i;
    }
    VAS_Alltoallv(out, ones, at, MPI_INT, in, ones, at, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; i++)
        wrong += in[i] != i * 100 + rank;
    VAS_Alltoallv_report();
    MPI_Finalize();
    return wrong;
}
