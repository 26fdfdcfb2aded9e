/* Rounds of two messages each, as SLOAV, two-phase Bruck and TuNA have them: first what the
 * receiver must know, then the data. */
#ifndef VAS_A2AV_RELAY_H
#define VAS_A2AV_RELAY_H

#include "schedule.h"
#include "slots.h"

/* Lengths travel as 4 bytes here, as in the papers; a block above this goes direct. */
#define A2AV_RELAY_LARGEST ((size_t)1 << 30)

/* Returns where a relayed block of a distance is kept; NULL without memory. */
typedef unsigned char *a2av_keeper(struct a2av_call *, void *self, int distance, size_t count);

struct a2av_relay {
    struct a2av_slot *slots;
    int radix;
    a2av_keeper *keep;
    void *self;
    struct a2av_buffer out, in;
};

/* Starts the messages of the blocks above the limit, straight to where they go. */
int a2av_start_large(struct a2av_call *);

/* The number of blocks of a round, and their bytes. */
size_t a2av_blocks_of_round(const struct a2av_call *, const struct a2av_relay *,
                            const struct a2av_round *, size_t *payload);

/* Writes the lengths of a round's blocks, and the blocks. */
void a2av_write_round(const struct a2av_call *, const struct a2av_relay *,
                      const struct a2av_round *, unsigned char *lengths, unsigned char *data);

/* The bytes of a round's data by its lengths. */
size_t a2av_data_bytes(const unsigned char *lengths, size_t blocks);

/* Delivers the blocks that have arrived, and keeps the others. */
int a2av_read_round(struct a2av_call *, const struct a2av_relay *, const struct a2av_round *,
                    const unsigned char *lengths, const unsigned char *data);

/* Gives the buffers back; the table is the caller's. */
void a2av_relay_free(struct a2av_call *, struct a2av_relay *);

/* Runs the rounds of SLOAV on a table. */
int a2av_sloav_rounds(struct a2av_call *, struct a2av_slot *);

#endif
