/* Chooses how the next call on a communicator is done, by what all of its ranks know: the machine's
 * figures, its nodes, and what the last call by the core moved. */
#ifndef VAS_A2AV_MPI_CHOOSER_H
#define VAS_A2AV_MPI_CHOOSER_H

#include "../core/choose.h"

struct vas_chooser {
    struct a2av_network network;
    struct a2av_layout layout;
    struct a2av_load load; /* the load that the settings in use were chosen for */
    bool known;
    int left;  /* calls that are still MPI's own */
    int pause; /* how many calls are MPI's own after the next one by the core, if it is no better */
};

/* Makes a chooser. `node_of` has the node of each rank; NULL: each rank is alone. */
void vas_chooser_open(struct vas_chooser *, const struct a2av_network *, const int *node_of,
                      int ranks);

/* Notes that the ranks of a node share no memory: what one hands another costs a message. */
void vas_chooser_without_memory(struct vas_chooser *);

/* Tells whether the core does the next call. Now and then it does one to learn what calls move. */
bool vas_chooser_serves(struct vas_chooser *);

/* Chooses settings for the calls after one by the core, by what that moved. Returns whether the
 * core does them. */
bool vas_chooser_learn(struct vas_chooser *, const struct a2av_state *, struct a2av_settings *);

#endif
