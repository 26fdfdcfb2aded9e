/* Decides who does a call, the core or MPI's own function. A prediction may be wrong, so a trial
 * times both: eight calls, four of each, in an order that gives both the same share of calls that
 * alternate. The faster one does the calls after it, until the next trial. */
#ifndef VAS_A2AV_MPI_TURNS_H
#define VAS_A2AV_MPI_TURNS_H

#include <mpi.h>
#include <stdbool.h>

enum { VAS_TRIAL_CALLS = 8 };

/* Zeros are a value: nobody was given the next call. */
struct vas_turns {
    bool core;  /* who does the calls that are left */
    int left;   /* calls until somebody has to decide again, outside a trial */
    int least;  /* so many are given at least: twice as many each time the answer is the same */
    bool tries; /* a trial is under way */
    int at;     /* its calls that have ended */
    bool timed; /* a call of it has begun */
    double began, seconds[VAS_TRIAL_CALLS];
};

/* Tells whether nobody was given the next call. Then one of the two functions below must be called
 * before it. */
bool vas_turns_are_open(const struct vas_turns *);

/* Begin a trial with the next call; and give the next calls to MPI's own function, which ends a
 * trial under way. */
void vas_turns_try(struct vas_turns *);
void vas_turns_leave(struct vas_turns *);

/* Takes the next call. Returns whether it is the core's. */
bool vas_turns_take(struct vas_turns *);

/* Notes that a call has ended, if it was taken. After the last one of a trial the ranks of `comm` agree on who was
 * faster, which is collective. Returns 0 or an error of MPI. */
int vas_turns_end(struct vas_turns *, MPI_Comm comm);

/* Decides by the seconds of a trial's calls, each the slowest rank's: by the second shortest of each
 * side, as the first call of a kind is slow and another may be disturbed. */
void vas_turns_decide(struct vas_turns *, const double seconds[VAS_TRIAL_CALLS]);

#endif
