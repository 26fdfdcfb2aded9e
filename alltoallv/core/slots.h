/* The element table of a logarithmic algorithm: one entry for each distance, which says where
 * the block that this rank holds for it is. Only entries move, never data. */
#ifndef VAS_A2AV_SLOTS_H
#define VAS_A2AV_SLOTS_H

#include "call.h"

struct a2av_slot {
    const unsigned char *bytes;
    size_t count;
};

/* Returns a table of the caller's own blocks, those above the call's limit as empty; NULL without
 * memory. The caller frees it. */
struct a2av_slot *a2av_slots_of(const struct a2av_call *);

#endif
