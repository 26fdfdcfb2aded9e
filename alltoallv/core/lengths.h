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

enum {
    A2AV_LENGTH_BYTES = 11,  /* the most bytes that one length takes */
    A2AV_PLAIN_LENGTHS = 192 /* lengths below are one byte */
};

struct a2av_length_writer {
    unsigned char *at;
    unsigned zeros; /* zeros that are not written yet */
};

/* Write a length of any size, for which A2AV_LENGTH_BYTES must be there; and, after the last
 * length, the zeros that are not written yet. */
void a2av_write_any_length(struct a2av_length_writer *, uint64_t length);
void a2av_end_lengths(struct a2av_length_writer *);

/* Writes a length as a2av_write_any_length does; the usual ones without a call. */
static inline void a2av_write_length(struct a2av_length_writer *writer, uint64_t length)
{
    if (length - 1 < A2AV_PLAIN_LENGTHS - 1 && writer->zeros == 0)
        *writer->at++ = (unsigned char)length;
    else
        a2av_write_any_length(writer, length);
}

struct a2av_length_reader {
    const unsigned char *at, *end;
    unsigned zeros; /* zeros that are read and still to be returned */
};

/* Reads a length of any size. Returns 0, or A2AV_BAD_MESSAGE where the bytes end early or are not
 * a length. */
int a2av_read_any_length(struct a2av_length_reader *, uint64_t *length);

/* Reads a length as a2av_read_any_length does; the usual ones without a call. */
static inline int a2av_read_length(struct a2av_length_reader *reader, uint64_t *length)
{
    if (reader->zeros > 0 || reader->at == reader->end || *reader->at >= A2AV_PLAIN_LENGTHS)
        return a2av_read_any_length(reader, length);
    *length = *reader->at++;
    return 0;
}

#endif
