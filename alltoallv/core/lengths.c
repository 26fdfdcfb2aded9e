#include "lengths.h"

#include "a2av.h"

enum { PLAIN = A2AV_PLAIN_LENGTHS, LONG = 224, RUN_MAX = LONG - PLAIN + 1 };

void a2av_end_lengths(struct a2av_length_writer *writer)
{
    if (writer->zeros == 1)
        *writer->at++ = 0;
    else if (writer->zeros > 1)
        *writer->at++ = (unsigned char)(PLAIN + writer->zeros - 2);
    writer->zeros = 0;
}

void a2av_write_any_length(struct a2av_length_writer *writer, uint64_t length)
{
    if (length == 0) {
        if (++writer->zeros == RUN_MAX)
            a2av_end_lengths(writer);
        return;
    }
    a2av_end_lengths(writer);
    if (length < PLAIN) {
        *writer->at++ = (unsigned char)length;
        return;
    }
    uint64_t rest = length - PLAIN;
    *writer->at++ = (unsigned char)(LONG | (rest & 31));
    for (rest >>= 5; rest > 127; rest >>= 7)
        *writer->at++ = (unsigned char)(128 | (rest & 127));
    *writer->at++ = (unsigned char)rest;
}

static int read_long(struct a2av_length_reader *reader, unsigned first, uint64_t *length)
{
    uint64_t rest = first & 31;
    for (unsigned shift = 5; shift < 64; shift += 7) {
        if (reader->at == reader->end)
            return A2AV_BAD_MESSAGE;
        unsigned byte = *reader->at++;
        rest |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            *length = rest + PLAIN;
            return 0;
        }
    }
    return A2AV_BAD_MESSAGE;
}

int a2av_read_any_length(struct a2av_length_reader *reader, uint64_t *length)
{
    *length = 0;
    if (reader->zeros > 0) {
        reader->zeros--;
        return 0;
    }
    if (reader->at == reader->end)
        return A2AV_BAD_MESSAGE;
    unsigned byte = *reader->at++;
    if (byte >= LONG)
        return read_long(reader, byte, length);
    if (byte >= PLAIN)
        reader->zeros = byte - PLAIN + 1;
    else
        *length = byte;
    return 0;
}
