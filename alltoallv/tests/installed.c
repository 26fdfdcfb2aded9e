/* Exchanges a number between all ranks by the installed library, once or as often as the argument
 * says, and ends with the number of those that are wrong. */
#include <locale.h>
#include <stdlib.h>
#include <vas_a2av.h>

enum { RANKS = 64 };

int main(int argc, char **argv)
{
    int ranks, rank, wrong = 0, ones[RANKS], at[RANKS], out[RANKS], in[RANKS];
    int calls = argc > 1 ? atoi(argv[1]) : 1;
    setlocale(LC_ALL, "");
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < ranks; i++) {
        ones[i] = 1;
        at[i] = i;
        out[i] = rank * 100 + i;
    }
    for (int i = 0; i < calls; i++)
        VAS_Alltoallv(out, ones, at, MPI_INT, in, ones, at, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; i++)
        wrong += in[i] != i * 100 + rank;
    MPI_Finalize();
    return wrong;
}
