/* Rounds of two messages each, as SLOAV, two-phase Bruck and TuNA have them: first what the
 * receiver must know, then the data. */
#ifndef VAS_A2AV_RELAY_H
#define VAS_A2AV_RELAY_H

#include "schedule.h"
#include "slots.h"

/* The most bytes of a relayed block, as lengths travel as 4 bytes here, as in the papers. A
 * larger block goes direct. */
#define A2AV_RELAY_LARGEST ((size_t)1 << 30)

/* A function that returns where a relayed block of a distance is kept; NULL without memory. */
typedef unsigned char *a2av_keeper(struct a2av_call *, void *self, int distance, size_t count);

struct a2av_relay {
    struct a2av_slot *slots;
    int radix;
    a2av_keeper *keep;
    void *self;
    struct a2av_buffer out, in;
};

/* Starts to send and to receive the blocks above the limit, straight to where they go. Returns
 * 0 or an error. */
int a2av_start_large(struct a2av_call *);

/* Returns the number of blocks of a round, and sets `payload` to their bytes. */
size_t a2av_blocks_of_round(const struct a2av_call *, const struct a2av_relay *,
                            const struct a2av_round *, size_t *payload);

/* Writes the lengths of a round's blocks to `lengths`, and the blocks to `data`. */
void a2av_write_round(const struct a2av_call *, const struct a2av_relay *,
                      const struct a2av_round *, unsigned char *lengths, unsigned char *data);

/* Returns the bytes of a round's blocks, by their lengths. */
size_t a2av_data_bytes(const unsigned char *lengths, size_t blocks);

/* Reads the blocks of a round: delivers those that have arrived, and keeps the others. Returns
 * 0 or an error. */
int a2av_read_round(struct a2av_call *, const struct a2av_relay *, const struct a2av_round *,
                    const unsigned char *lengths, const unsigned char *data);

/* Frees the buffers; the table of slots stays, as it is the caller's. */
void a2av_relay_free(struct a2av_call *, struct a2av_relay *);

/* Runs the rounds of SLOAV on a table of slots. Returns 0 or an error. */
int a2av_sloav_rounds(struct a2av_call *, struct a2av_slot *);

#endif
