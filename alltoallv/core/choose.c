#include "choose.h"

#include "schedule.h"

enum { RADIX_MOST = 64, LEADERS_MOST = 8 };

/* The messages, waits and blocks of all rounds among so many ranks or nodes: a wait for each
 * digit position. */
struct rounds {
    double messages, waits, blocks;
};

/* Returns the number of distances below `ranks` that have a digit, and so travel in its round. */
static double with_digit(int ranks, long long weight, int radix, int digit)
{
    long long whole = ranks / (weight * radix), rest = ranks % (weight * radix) - digit * weight;
    rest = rest < 0 ? 0 : rest > weight ? weight : rest;
    return (double)(whole * weight + rest);
}

static struct rounds rounds_of(int ranks, int radix)
{
    struct rounds found = {0};
    struct a2av_round round;
    int weight = 0;
    for (bool more = a2av_first_round(&round, ranks); more;
         more = a2av_next_round(&round, radix, ranks)) {
        found.messages++;
        found.waits += round.weight != weight;
        found.blocks += with_digit(ranks, round.weight, radix, round.digit);
        weight = round.weight;
    }
    return found;
}

struct a2av_network a2av_assumed_network(void)
{
    return (struct a2av_network){.overhead = 0.7e-6,
                                 .latency = 0.5e-6,
                                 .per_byte = 0.2e-9,
                                 .copy = 0.1e-9,
                                 .local = 0.2e-6};
}

static double startups(const struct a2av_network *network, double messages, double waits)
{
    return messages * 2 * network->overhead + waits * network->latency;
}

/* Predicts a message for each block. All ranks of a node send through its link at the same
 * time. */
static double predict_direct(const struct a2av_network *network, const struct a2av_layout *layout,
                             const struct a2av_load *load)
{
    double blocks = load->blocks;
    return startups(network, blocks, 1) + load->bytes * network->per_byte * layout->most;
}

/* Returns how many messages of a round share a link between nodes. */
static double shared(const struct a2av_layout *layout)
{
    return layout->nodes > 2 ? A2AV_SHARED : 1;
}

/* Predicts rounds among all ranks. A relayed byte is copied twice a hop: into a message and out
 * of it. */
static double predict_flat(const struct a2av_network *network, const struct a2av_layout *layout,
                           const struct a2av_load *load, int radix)
{
    struct rounds rounds = rounds_of(layout->ranks, radix);
    double hops = layout->ranks > 1 ? rounds.blocks / (layout->ranks - 1) : 0;
    double bytes = load->bytes * hops + rounds.messages;
    return startups(network, rounds.messages + load->direct, rounds.waits) +
           bytes * (network->per_byte * layout->most * shared(layout) + 2 * network->copy);
}

/* Predicts rounds between leaders. There is a string from each rank to each leader, and one
 * back. A leader has its part of what the node's ranks send, with a byte of length for each
 * block. */
static double predict_leaders(const struct a2av_network *network,
                              const struct a2av_layout *layout, const struct a2av_load *load,
                              int radix, int leaders)
{
    struct rounds rounds = rounds_of(layout->nodes, radix);
    double others = layout->nodes > 1 ? layout->nodes - 1 : 1;
    double part = (load->bytes + layout->ranks) * layout->most / leaders;
    double relayed = part * rounds.blocks / others;
    double strings = 2.0 * (layout->most + leaders);
    return startups(network, rounds.messages + load->direct, rounds.waits) +
           strings * network->local + relayed * network->per_byte * leaders * shared(layout) +
           (2 * relayed + 4 * part) * network->copy;
}

double a2av_predict(const struct a2av_network *network, const struct a2av_layout *layout,
                    const struct a2av_settings *settings, const struct a2av_load *load)
{
    if (settings->algorithm == A2AV_SLOAV2)
        return predict_flat(network, layout, load, settings->radix);
    if (settings->algorithm == A2AV_SLOAV2X)
        return predict_leaders(network, layout, load, settings->radix, settings->leaders);
    return predict_direct(network, layout, load);
}

static void keep_better(const struct a2av_network *network, const struct a2av_layout *layout,
                        const struct a2av_load *load, const struct a2av_settings *tried,
                        struct a2av_settings *best, double *seconds)
{
    double found = a2av_predict(network, layout, tried, load);
    if (found < *seconds) {
        *seconds = found;
        *best = *tried;
    }
}

/* Chooses the settings of the least predicted time. Returns false if that is not below
 * A2AV_WORTH of `own`, the seconds of MPI's own function. */
static bool choose_against(double own, const struct a2av_network *network,
                           const struct a2av_layout *layout, const struct a2av_load *load,
                           struct a2av_settings *settings)
{
    struct a2av_settings tried = *settings;
    double bound = own * A2AV_WORTH, best = bound;
    for (int radix = 2; radix <= RADIX_MOST && radix <= layout->ranks; radix *= 2) {
        tried.algorithm = A2AV_SLOAV2;
        tried.radix = radix;
        keep_better(network, layout, load, &tried, settings, &best);
    }
    bool leaders = layout->nodes > 1 && layout->most > 1;
    /* As sloav2x.c has it: no more leaders than there are nodes, or ranks of the smallest. */
    int leaders_most = layout->fewest < layout->nodes ? layout->fewest : layout->nodes;
    for (int radix = 2; leaders && radix <= RADIX_MOST && radix <= layout->nodes; radix *= 2)
        for (int each = 1; each <= LEADERS_MOST && each <= leaders_most; each *= 2) {
            tried.algorithm = A2AV_SLOAV2X;
            tried.radix = radix;
            tried.leaders = each;
            keep_better(network, layout, load, &tried, settings, &best);
        }
    return best < bound;
}

bool a2av_choose(const struct a2av_network *network, const struct a2av_layout *layout,
                 const struct a2av_load *load, struct a2av_settings *settings)
{
    double own = predict_direct(network, layout, load);
    return choose_against(own, network, layout, load, settings);
}

bool a2av_choose_equal(const struct a2av_network *network, const struct a2av_layout *layout,
                       size_t bytes, struct a2av_settings *settings)
{
    double others = layout->ranks - 1;
    struct a2av_load load = {others, others * (double)bytes, 0};
    double direct = predict_direct(network, layout, &load);
    double rounds = predict_flat(network, layout, &load, 2);
    return choose_against(direct < rounds ? direct : rounds, network, layout, &load, settings);
}
