/* Sleeps until another process of the machine changes a word of memory that both see. */
#ifndef VAS_A2AV_SLEEP_H
#define VAS_A2AV_SLEEP_H

#include <stdatomic.h>
#include <stdint.h>

/* Returns when the word is woken, when it is not `seen`, or after so many microseconds. */
void a2av_sleep(_Atomic uint32_t *word, uint32_t seen, long microseconds);

/* Wakes all that sleep for a word. */
void a2av_wake(_Atomic uint32_t *word);

#endif
