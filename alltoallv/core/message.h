/* SLOAV2's message of a round: flags, lengths of the blocks, the blocks. */
#ifndef VAS_A2AV_MESSAGE_H
#define VAS_A2AV_MESSAGE_H

#include "schedule.h"
#include "slots.h"
#include "state.h"

/* Writes the message of a round into `out`; returns its size by `total`. It travels as one
 * message of at most eager_bytes, and a second one with what is more. */
int a2av_compose(struct a2av_call *, const struct a2av_slot *, const struct a2av_round *,
                 struct a2av_header *last, struct a2av_buffer *out, size_t *total);

/* The size of the whole message of which the first part came. */
int a2av_total_of(const struct a2av_settings *, const unsigned char *first, size_t came,
                  size_t *total);

/* Reads a whole message: delivers the blocks that have arrived, and keeps the others in the
 * arena and the table. */
int a2av_take_apart(struct a2av_call *, struct a2av_slot *, const struct a2av_round *,
                    struct a2av_header *last, const unsigned char *message, size_t total);

/* Runs the rounds of SLOAV2 on a table. */
int a2av_sloav2_rounds(struct a2av_call *, struct a2av_slot *);

#endif
