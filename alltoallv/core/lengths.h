/* Writes and reads lengths of blocks as SLOAV2's header has them: one byte up to 191, runs of
 * zeros as one byte.
 *
 *   0 .. 191    the length
 *   192 .. 223  a run of 2 .. 33 zeros
 *   224 .. 255  low five bits of (length - 192); the rest follows, seven bits a byte */
#ifndef VAS_A2AV_LENGTHS_H
#define VAS_A2AV_LENGTHS_H

#include <stddef.h>
#include <stdint.h>

enum { A2AV_LENGTH_BYTES = 11 }; /* the most bytes that one length takes */

struct a2av_length_writer {
    unsigned char *at;
    unsigned zeros; /* zeros that are not written yet */
};

/* Write a length, for which A2AV_LENGTH_BYTES must be there; and, after the last length, the
 * zeros that are not written yet. */
void a2av_write_length(struct a2av_length_writer *, uint64_t length);
void a2av_end_lengths(struct a2av_length_writer *);

struct a2av_length_reader {
    const unsigned char *at, *end;
    unsigned zeros; /* zeros that are read and still to be returned */
};

/* Reads a length. Returns 0, or A2AV_BAD_MESSAGE where the bytes end early or are not a length. */
int a2av_read_length(struct a2av_length_reader *, uint64_t *length);

#endif
