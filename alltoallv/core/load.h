/* The load of a call, as the largest of all ranks. Ranks learn it without a message of its
 * own: it travels with the rounds, through which each rank hears of every other. */
#ifndef VAS_A2AV_LOAD_H
#define VAS_A2AV_LOAD_H

#include "call.h"

enum { A2AV_LOAD_BYTES = 3 };

/* A load in three quantities of a byte each, four steps to an octave: blocks that are not
 * empty, bytes of small blocks, and blocks that go direct. */
struct a2av_load_code {
    unsigned char of[A2AV_LOAD_BYTES];
};

/* Return the step of a value, and the value of a step. A step is at most a quarter above the
 * one below; zero is exact. */
unsigned char a2av_load_step(uint64_t value);
double a2av_load_value(unsigned char step);

/* Returns the load that this rank sends in a call. */
struct a2av_load_code a2av_load_of(const struct a2av_call *);

/* Raises each quantity of a load to that of another load, if that is larger. */
void a2av_load_raise(struct a2av_load_code *, const unsigned char other[A2AV_LOAD_BYTES]);

#endif
