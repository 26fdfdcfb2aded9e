/* Visits the distances of a round by growing distance, without a division for each: a call of a
 * thousand ranks visits ten thousand.
 *
 *     for (struct a2av_walk walk = a2av_walk(call, round, radix); walk.by < call->ranks;
 *          a2av_step(&walk))
 */
#ifndef VAS_A2AV_WALK_H
#define VAS_A2AV_WALK_H

#include "call.h"

struct a2av_walk {
    int by;       /* the distance; the number of ranks after the last one */
    bool arrives; /* whether blocks of this distance are at their destination after the round */
    int left;     /* distances of this run of the digit, this one included */
    int weight, ranks, class, classes;
    long long skip; /* from the end of a run to the next one */
};

static inline void a2av_step_any(struct a2av_walk *walk)
{
    long long next = walk->by + 1LL;
    if (--walk->left == 0) {
        /* Only in the first run are all higher digits zero, so that nothing is left to go. */
        next += walk->skip;
        walk->left = walk->weight;
        walk->arrives = false;
    }
    walk->by = next < walk->ranks ? (int)next : walk->ranks;
}

static inline void a2av_walk_to_class(struct a2av_walk *walk)
{
    while (walk->by < walk->ranks && walk->by % walk->classes != walk->class)
        a2av_step_any(walk);
}

static inline void a2av_step(struct a2av_walk *walk)
{
    a2av_step_any(walk);
    if (walk->classes > 1)
        a2av_walk_to_class(walk);
}

static inline struct a2av_walk a2av_walk(const struct a2av_call *call,
                                         const struct a2av_round *round, int radix)
{
    struct a2av_walk walk = {.by = a2av_first_distance(round),
                             .arrives = true,
                             .left = round->weight,
                             .weight = round->weight,
                             .ranks = call->ranks,
                             .class = call->class,
                             .classes = call->classes,
                             .skip = (radix - 1LL) * round->weight};
    if (walk.classes > 1)
        a2av_walk_to_class(&walk);
    return walk;
}

#endif
