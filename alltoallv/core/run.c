#include <stdlib.h>
#include <string.h>

#include "call.h"

static const char *const NAMES[A2AV_ALGORITHMS] = {
    [A2AV_LINEAR] = "linear",       [A2AV_PAIRWISE] = "pairwise", [A2AV_SLOAV] = "sloav",
    [A2AV_TWO_PHASE] = "two-phase", [A2AV_TUNA] = "tuna",         [A2AV_SLOAV2] = "sloav2",
    [A2AV_SLOAVX] = "sloavx",       [A2AV_SLOAV2X] = "sloav2x",
};

const char *a2av_name(enum a2av_algorithm algorithm)
{
    return NAMES[algorithm];
}

int a2av_by_name(const char *name)
{
    for (int i = 0; i < A2AV_ALGORITHMS; i++)
        if (strcmp(name, NAMES[i]) == 0)
            return i;
    return -1;
}

bool a2av_has_leaders(enum a2av_algorithm algorithm)
{
    return algorithm == A2AV_SLOAVX || algorithm == A2AV_SLOAV2X;
}

struct a2av_settings a2av_default_settings(void)
{
    return (struct a2av_settings){
        .algorithm = A2AV_SLOAV2,
        .radix = 2,
        .leaders = 2,
        .batch = 8,
        .direct_bytes = 1024,
        .eager_bytes = 8 * 1024,
        .piece_bytes = (size_t)1 << 30,
    };
}

static int run_algorithm(struct a2av_call *call)
{
    int radix = call->settings->radix;
    switch (call->settings->algorithm) {
    case A2AV_LINEAR:
        return a2av_run_linear(call);
    case A2AV_PAIRWISE:
        return a2av_run_pairwise(call);
    case A2AV_SLOAV:
        return a2av_run_sloav(call);
    case A2AV_TWO_PHASE:
        return a2av_run_tuna(call, 2);
    case A2AV_TUNA:
        return a2av_run_tuna(call, radix < call->ranks ? radix : (call->ranks > 2 ? call->ranks : 2));
    case A2AV_SLOAVX:
        return a2av_run_sloavx(call);
    case A2AV_SLOAV2X:
        return a2av_run_sloav2x(call);
    default:
        return a2av_run_sloav2(call);
    }
}

int a2av_run(struct a2av_transport *transport, const struct a2av_settings *settings,
             const struct a2av_job *job, struct a2av_state *state, struct a2av_counts *counts)
{
    struct a2av_call call = {
        .transport = transport,
        .settings = settings,
        .job = job,
        .state = state,
        .counts = counts,
        .rank = transport->rank,
        .ranks = transport->size,
    };
    *counts = (struct a2av_counts){0};
    int error = run_algorithm(&call);
    if (error)
        return error; /* messages may be on their way: their memory stays */
    free(call.flight.tickets);
    a2av_arena_empty(&call.arena);
    return 0;
}
