#include "load.h"

#include "state.h"

unsigned char a2av_load_step(uint64_t value)
{
    unsigned step = 0;
    if (value == 0)
        return 0;
    for (; value > 7; value >>= 1)
        step += 4;
    /* 1, 2 and 3 have steps of their own, as 4 .. 7 have. */
    return (unsigned char)(step + value);
}

double a2av_load_value(unsigned char step)
{
    double value = step;
    if (step < 8)
        return value;
    value = 4 + step % 4;
    for (unsigned octaves = step / 4U - 1; octaves > 0; octaves--)
        value *= 2;
    return value;
}

struct a2av_load a2av_load_sent(const size_t *send_bytes, int rank, int ranks,
                                size_t direct_bytes)
{
    struct a2av_load load = {0};
    for (int to = 0; to < ranks; to++) {
        size_t count = to == rank ? 0 : send_bytes[to];
        load.blocks += count > 0;
        load.direct += count > direct_bytes;
        load.bytes += count > direct_bytes ? 0 : (double)count;
    }
    return load;
}

static struct a2av_load_code code_of(struct a2av_load load)
{
    return (struct a2av_load_code){{a2av_load_step((uint64_t)load.blocks),
                                    a2av_load_step((uint64_t)load.bytes),
                                    a2av_load_step((uint64_t)load.direct)}};
}

static struct a2av_load load_of(struct a2av_load_code code)
{
    return (struct a2av_load){a2av_load_value(code.of[0]), a2av_load_value(code.of[1]),
                              a2av_load_value(code.of[2])};
}

struct a2av_load a2av_load_in_steps(struct a2av_load load)
{
    return load_of(code_of(load));
}

struct a2av_load_code a2av_load_of(const struct a2av_call *call)
{
    return code_of(a2av_load_sent(call->job->send_bytes, call->rank, call->ranks, call->limit));
}

void a2av_load_raise(struct a2av_load_code *load, const unsigned char other[A2AV_LOAD_BYTES])
{
    for (int i = 0; i < A2AV_LOAD_BYTES; i++)
        load->of[i] = other[i] > load->of[i] ? other[i] : load->of[i];
}

bool a2av_state_load(const struct a2av_state *state, struct a2av_load *load)
{
    if (!state->loaded)
        return false;
    *load = load_of(state->load);
    return true;
}
