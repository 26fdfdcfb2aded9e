#include "chooser.h"

#include <stdlib.h>
#include <string.h>

static void lay_out(struct a2av_layout *layout, const int *node_of, int ranks)
{
    *layout = (struct a2av_layout){.ranks = ranks, .nodes = ranks, .most = 1, .fewest = 1};
    int *sizes = node_of ? calloc((size_t)ranks, sizeof *sizes) : NULL;
    if (!sizes)
        return;
    layout->nodes = 0;
    for (int rank = 0; rank < ranks; rank++) {
        int size = ++sizes[node_of[rank]];
        layout->nodes += size == 1;
        layout->most = size > layout->most ? size : layout->most;
    }
    layout->fewest = ranks;
    for (int node = 0; node < ranks; node++)
        if (sizes[node] > 0 && sizes[node] < layout->fewest)
            layout->fewest = sizes[node];
    free(sizes);
}

void vas_chooser_open(struct vas_chooser *chooser, const struct a2av_network *network,
                      const int *node_of, int ranks)
{
    *chooser = (struct vas_chooser){.network = *network};
    lay_out(&chooser->layout, node_of, ranks);
}

void vas_chooser_without_memory(struct vas_chooser *chooser)
{
    chooser->known = false;
    chooser->network.local = 2 * chooser->network.overhead + chooser->network.latency;
}

bool vas_chooser_choose(struct vas_chooser *chooser, const struct a2av_load *load,
                        struct a2av_settings *settings)
{
    /* A prediction takes longer than a message, so there is none for a load that was just
     * predicted. */
    if (!chooser->known || memcmp(load, &chooser->load, sizeof *load) != 0)
        chooser->better = a2av_choose(&chooser->network, &chooser->layout, load, settings);
    chooser->load = *load;
    chooser->known = true;
    return chooser->better;
}

bool vas_chooser_learn(struct vas_chooser *chooser, const struct a2av_state *state,
                       struct a2av_settings *settings)
{
    struct a2av_load load;
    return !a2av_state_load(state, &load) || vas_chooser_choose(chooser, &load, settings);
}
