#include "turns.h"

enum { LEAST_FIRST = 64, LEAST_MOST = 1024, LEFT_MOST = 1 << 20 };

/* A trial loses time by the calls of its slower side: at most this part of the time of the calls
 * until the next one. */
static const double LOSS = 0.05;

/* The core's calls of a trial. Of calls that alternate between two loads, or among four, each side
 * gets each load as often. */
static const bool CORES[VAS_TRIAL_CALLS] = {true, false, false, true, false, true, true, false};

bool vas_turns_are_open(const struct vas_turns *turns)
{
    return !turns->tries && turns->left == 0;
}

void vas_turns_try(struct vas_turns *turns)
{
    turns->tries = true;
    turns->at = 0;
}

/* Gives a side at least so many calls. */
static void give(struct vas_turns *turns, bool core, double calls)
{
    bool same = turns->least > 0 && turns->core == core;
    int doubled = turns->least < LEAST_MOST ? 2 * turns->least : LEAST_MOST;
    turns->least = same ? doubled : LEAST_FIRST;
    turns->core = core;
    turns->tries = false;
    turns->left = calls > LEFT_MOST ? LEFT_MOST : (int)calls;
    if (turns->left < turns->least)
        turns->left = turns->least;
}

void vas_turns_leave(struct vas_turns *turns)
{
    give(turns, false, 0);
}

bool vas_turns_take(struct vas_turns *turns)
{
    if (turns->tries) {
        turns->timed = true;
        turns->began = PMPI_Wtime();
        return CORES[turns->at];
    }
    turns->left--;
    return turns->core;
}

int vas_turns_end(struct vas_turns *turns, MPI_Comm comm)
{
    double slowest[VAS_TRIAL_CALLS];
    bool timed = turns->tries && turns->timed;
    turns->timed = false;
    if (!timed)
        return 0;
    turns->seconds[turns->at++] = PMPI_Wtime() - turns->began;
    if (turns->at < VAS_TRIAL_CALLS)
        return 0;
    int error = PMPI_Allreduce(turns->seconds, slowest, VAS_TRIAL_CALLS, MPI_DOUBLE, MPI_MAX, comm);
    if (error)
        vas_turns_leave(turns);
    else
        vas_turns_decide(turns, slowest);
    return error;
}

/* Returns the second shortest of a side's calls. */
static double typical(const double seconds[VAS_TRIAL_CALLS], bool core)
{
    double shortest = -1, second = -1;
    for (int i = 0; i < VAS_TRIAL_CALLS; i++) {
        if (CORES[i] != core)
            continue;
        if (shortest < 0 || seconds[i] < shortest) {
            second = shortest;
            shortest = seconds[i];
        } else if (second < 0 || seconds[i] < second) {
            second = seconds[i];
        }
    }
    return second;
}

void vas_turns_decide(struct vas_turns *turns, const double seconds[VAS_TRIAL_CALLS])
{
    double core = typical(seconds, true), own = typical(seconds, false), lost = 0;
    double winner = core < own ? core : own;
    for (int i = 0; i < VAS_TRIAL_CALLS; i++)
        if (CORES[i] != (core < own) && seconds[i] > winner)
            lost += seconds[i] - winner;
    give(turns, core < own, winner > 0 ? lost / (winner * LOSS) : 0);
}
