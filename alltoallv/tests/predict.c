/* Prints what the core's model predicts, without any MPI.
 *
 *   predict RANKS NODE_RANKS BLOCKS BYTES DIRECT [ALGORITHM RADIX LEADERS]
 *
 * With an algorithm, prints its seconds on the assumed network; without one, what is chosen. */
#include <stdio.h>
#include <stdlib.h>

#include "../core/choose.h"

int main(int argc, char **argv)
{
    if (argc != 6 && argc != 9) {
        fprintf(stderr, "usage: predict RANKS NODE_RANKS BLOCKS BYTES DIRECT "
                        "[ALGORITHM RADIX LEADERS]\n");
        return 2;
    }
    int ranks = atoi(argv[1]), most = atoi(argv[2]);
    struct a2av_network network = a2av_assumed_network();
    int left = ranks % most;
    struct a2av_layout layout = {ranks, (ranks + most - 1) / most, most, left ? left : most};
    struct a2av_load load = {atof(argv[3]), atof(argv[4]), atof(argv[5])};
    struct a2av_settings settings = a2av_default_settings();
    if (argc == 6) {
        bool chosen = a2av_choose(&network, &layout, &load, &settings);
        printf("%s %d %d\n", chosen ? a2av_name(settings.algorithm) : "mpi", settings.radix,
               settings.leaders);
        return 0;
    }
    settings.algorithm = (enum a2av_algorithm)a2av_by_name(argv[6]);
    settings.radix = atoi(argv[7]);
    settings.leaders = atoi(argv[8]);
    printf("%.12e\n", a2av_predict(&network, &layout, &settings, &load));
    return 0;
}
