#include "schedule.h"

bool a2av_first_round(struct a2av_round *round, int ranks)
{
    *round = (struct a2av_round){.weight = 1, .digit = 1, .index = 0};
    return ranks > 1;
}

bool a2av_next_round(struct a2av_round *round, int radix, int ranks)
{
    round->index++;
    round->digit++;
    if (round->digit == radix) {
        if (round->weight > (ranks - 1) / radix)
            return false;
        round->weight *= radix;
        round->digit = 1;
    }
    /* The smallest distance with this digit is digit * weight. */
    return round->digit <= (ranks - 1) / round->weight;
}

int a2av_rounds(int radix, int ranks)
{
    struct a2av_round round;
    int rounds = 0;
    for (bool more = a2av_first_round(&round, ranks); more;
         more = a2av_next_round(&round, radix, ranks))
        rounds++;
    return rounds;
}

int a2av_first_distance(const struct a2av_round *round)
{
    return round->digit * round->weight;
}

int a2av_next_distance(const struct a2av_round *round, int radix, int ranks, int distance)
{
    int next = distance + 1;
    if (next % round->weight == 0) {
        /* The run of this digit has ended: the next one begins (radix - 1) weights later. The
         * test keeps the sum below ranks, and so within an int. */
        int skip = radix - 1;
        if (skip > (ranks - next) / round->weight)
            return ranks;
        next += skip * round->weight;
    }
    return next < ranks ? next : ranks;
}

bool a2av_arrives(const struct a2av_round *round, int radix, int distance)
{
    return distance / round->weight < radix;
}

bool a2av_departs(const struct a2av_round *round, int distance)
{
    return distance % round->weight == 0;
}

int a2av_rank_after(int rank, int by, int ranks)
{
    return rank < ranks - by ? rank + by : rank - (ranks - by);
}

int a2av_rank_before(int rank, int by, int ranks)
{
    return rank >= by ? rank - by : rank + (ranks - by);
}
