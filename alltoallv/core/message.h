/* SLOAV2's message of a round: flags, lengths of the blocks, the blocks. */
#ifndef VAS_A2AV_MESSAGE_H
#define VAS_A2AV_MESSAGE_H

#include "schedule.h"
#include "slots.h"
#include "state.h"

/* Writes the message of a round into `out`, and sets `total` to its size. It travels as one
 * message of at most eager_bytes, and a second one with the rest. Returns 0 or an error. */
int a2av_compose(struct a2av_call *, const struct a2av_slot *, const struct a2av_round *,
                 struct a2av_header *last, struct a2av_buffer *out, size_t *total);

/* Sets `total` to the size of a whole message, of which the first part came. Returns 0 or
 * A2AV_BAD_MESSAGE. */
int a2av_total_of(const struct a2av_settings *, const unsigned char *first, size_t came,
                  size_t *total);

/* Reads a whole message: delivers the blocks that have arrived, and keeps the others in the
 * arena and the table. Returns 0 or an error. */
int a2av_take_apart(struct a2av_call *, struct a2av_slot *, const struct a2av_round *,
                    struct a2av_header *last, const unsigned char *message, size_t total);

/* Runs the rounds of SLOAV2 on a table of slots. Returns 0 or an error. */
int a2av_sloav2_rounds(struct a2av_call *, struct a2av_slot *);

#endif
