#include "chooser.h"

#include <stdlib.h>
#include <string.h>

enum { PAUSE_FIRST = 64, PAUSE_MOST = 1024 };

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
    *chooser = (struct vas_chooser){.network = *network, .pause = PAUSE_FIRST};
    lay_out(&chooser->layout, node_of, ranks);
}

void vas_chooser_without_memory(struct vas_chooser *chooser)
{
    chooser->known = false;
    chooser->network.local = 2 * chooser->network.overhead + chooser->network.latency;
}

bool vas_chooser_serves(struct vas_chooser *chooser)
{
    if (chooser->left == 0)
        return true;
    chooser->left--;
    return false;
}

bool vas_chooser_learn(struct vas_chooser *chooser, const struct a2av_state *state,
                       struct a2av_settings *settings)
{
    struct a2av_load load;
    if (!a2av_state_load(state, &load))
        return true;
    /* A prediction takes longer than a message, so there is none for a load that was just
     * predicted. */
    if (chooser->known && memcmp(&load, &chooser->load, sizeof load) == 0)
        return true;
    chooser->load = load;
    chooser->known = false;
    if (a2av_choose(&chooser->network, &chooser->layout, &load, settings)) {
        chooser->pause = PAUSE_FIRST;
        chooser->known = true;
        return true;
    }
    chooser->left = chooser->pause;
    if (chooser->pause < PAUSE_MOST)
        chooser->pause *= 2;
    return false;
}
