/* Predicts how calls on a communicator are best done, by what all of its ranks know: the machine's
 * figures, its nodes, and what calls move. turns.h compares the prediction with what they take. */
#ifndef VAS_A2AV_MPI_CHOOSER_H
#define VAS_A2AV_MPI_CHOOSER_H

#include "../core/choose.h"

struct vas_chooser {
    struct a2av_network network;
    struct a2av_layout layout;
    struct a2av_load load; /* the load of the last choice, if `known` */
    bool known, better;    /* better: the core is, by that choice */
};

/* Makes a chooser. `node_of` has the node of each rank; NULL: each rank is alone. */
void vas_chooser_open(struct vas_chooser *, const struct a2av_network *, const int *node_of,
                      int ranks);

/* Notes that the ranks of a node share no memory: what one hands another costs a message. */
void vas_chooser_without_memory(struct vas_chooser *);

/* Chooses settings for calls that move so much. Returns false, and leaves the settings, if MPI's own
 * function is predicted to be the better choice. */
bool vas_chooser_choose(struct vas_chooser *, const struct a2av_load *, struct a2av_settings *);

/* Chooses settings for the calls after one by the core, which told what it moved. Returns false if
 * MPI's own function is the better choice; true too where the core's call told nothing. */
bool vas_chooser_learn(struct vas_chooser *, const struct a2av_state *, struct a2av_settings *);

#endif
