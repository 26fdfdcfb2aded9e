/* The core of VAS's all-to-all of unequal blocks: bytes only, no MPI, no global state.
 *
 * A caller describes one call as a block for each rank (a2av_job), says how to pass messages
 * (a2av_transport), and runs an algorithm. A function that can fail returns 0, or a positive
 * error: the transport's own, or one of a2av_error. */
#ifndef VAS_A2AV_CORE_H
#define VAS_A2AV_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The core's own errors. They are larger than any MPI error class of Open MPI 4 and MPICH 4, so
 * that no number means one of each. */
enum a2av_error { A2AV_NO_MEMORY = 1 << 29, A2AV_WRONG_SIZE, A2AV_BAD_MESSAGE };

enum { A2AV_BATCH_MAX = 32 };

enum a2av_tag {
    A2AV_TAG_ROUND = 1,
    A2AV_TAG_REST,
    A2AV_TAG_DIRECT,
    A2AV_TAG_SIZE,
    A2AV_TAG_UP,  /* inside a node: to a leader */
    A2AV_TAG_DOWN /* inside a node: from a leader */
};

enum a2av_algorithm {
    A2AV_LINEAR,    /* every message posted at once */
    A2AV_PAIRWISE,  /* one partner at a time */
    A2AV_SLOAV,     /* the dissertation's rounds: size, then lengths and data */
    A2AV_TWO_PHASE, /* Bruck's rounds: lengths, then data; memory P x the largest block */
    A2AV_TUNA,      /* two-phase with a radix */
    A2AV_SLOAV2,    /* one message a round; large blocks go direct */
    A2AV_SLOAVX,    /* SLOAV between leaders of nodes, and a binomial tree inside a node */
    A2AV_SLOAV2X,   /* SLOAV2 between several leaders of each node */
    A2AV_ALGORITHMS
};

/* Memory that the ranks of one node share: a part for each, by growing rank, zero at first. A
 * part has a2av_window_bytes() bytes and begins at a multiple of 64. */
struct a2av_window {
    unsigned char *const *parts;
};

/* Returns the bytes of one part of the window, for a node of so many ranks. */
size_t a2av_window_bytes(int members);

/* The functions that pass messages between ranks. A ticket is the transport's number of an
 * operation that was started; each ticket is waited for exactly once. Messages of one sender
 * with one tag arrive in the order sent. */
struct a2av_transport {
    int rank, size;
    int (*send)(struct a2av_transport *, const void *bytes, size_t count, int to, int tag,
                int *ticket);
    int (*receive)(struct a2av_transport *, void *bytes, size_t room, int from, int tag,
                   int *ticket);
    /* Waits for an operation. For a receive `received` gets the number of bytes that came; it
     * may be NULL. */
    int (*wait)(struct a2av_transport *, int ticket, size_t *received);
    /* The node of each rank, for the algorithms with leaders: from 0 without gaps, equal on all
     * ranks; NULL says that each rank is alone. */
    const int *node_of;
    /* The memory that the ranks of this rank's node share. NULL on all of them where they share
     * none: then they send messages instead. */
    const struct a2av_window *window;
    /* Lets messages and the other ranks of the node get on; called while a rank waits for what
     * another writes into the window. Needed only with a window. */
    int (*pause)(struct a2av_transport *);
    /* How often a rank that waits for the window is paused before it sleeps, for 32 ms at most at
     * a time; below 0 it never does. Where ranks are more than cores, one that polls takes the time
     * of the one it waits for. */
    int patience;
    /* Is told of blocks that were copied, and their bytes, so that a simulation can let time pass;
     * NULL where copies take time by themselves. */
    void (*copied)(struct a2av_transport *, size_t blocks, size_t bytes);
};

/* The blocks of one call: for each rank the block that it gets from this rank, and the block
 * that this rank gets from it. Nothing is written through `send`; blocks of `receive` do not
 * overlap one another, nor those of `send`. */
struct a2av_job {
    const unsigned char *const *send;
    const size_t *send_bytes;
    unsigned char *const *receive;
    const size_t *receive_bytes;
};

/* The settings of a call, which must be equal on all ranks of a communicator. */
struct a2av_settings {
    enum a2av_algorithm algorithm;
    int radix;           /* 2 .. ranks; A2AV_SLOAV and A2AV_TWO_PHASE take 2 whatever it is */
    int leaders;         /* SLOAV2x: leaders of a node, at most the ranks of the smallest node */
    int batch;           /* messages of one digit position in flight, 1 .. A2AV_BATCH_MAX */
    size_t direct_bytes; /* SLOAV2, SLOAV2x: blocks above this are never relayed */
    size_t eager_bytes;  /* SLOAV2: the most bytes of the first message of a round, >= 64 */
    size_t piece_bytes;  /* the largest single message; a larger block travels in several */
};

/* The work of one call, counted on this rank. */
struct a2av_counts {
    uint64_t messages;       /* sent */
    uint64_t payload_bytes;  /* sent, of blocks, relayed ones included */
    uint64_t metadata_bytes; /* sent, of lengths and headers */
    uint64_t scratch_bytes;  /* the most memory held at one time, buffers of the state included */
};

/* The memory of the algorithms between calls on one communicator, such as the last header of
 * each round. a2av_state_new returns NULL without memory. */
struct a2av_state;
struct a2av_state *a2av_state_new(void);
void a2av_state_free(struct a2av_state *);

/* Promises that the sizes of all blocks are the same in each call with this state; all ranks
 * must do so before the first call. From the second call on SLOAV2 and the leaders of SLOAV2x
 * send blocks alone: no lengths, and no message without a block. */
void a2av_state_plan(struct a2av_state *);

/* The blocks and bytes that a call moves. */
struct a2av_load {
    double blocks; /* blocks that are not empty */
    double bytes;  /* bytes of blocks that do not go direct */
    double direct; /* blocks that go direct */
};

/* Returns the load that one rank sends to the others, with blocks of these sizes for each rank.
 * Blocks above `direct_bytes` go direct. */
struct a2av_load a2av_load_sent(const size_t *send_bytes, int rank, int ranks,
                                size_t direct_bytes);

/* Returns the load in the steps, of at most a quarter, in which ranks tell each other of it. */
struct a2av_load a2av_load_in_steps(struct a2av_load);

/* Sets the load of the last call by SLOAV2 or SLOAV2x. Each quantity is the largest of all
 * ranks, in steps of at most a quarter, and the same on all ranks, so that they may choose by
 * it. Returns false if there was no such call. */
bool a2av_state_load(const struct a2av_state *, struct a2av_load *);

/* Runs the algorithm on this rank. Every rank of the transport calls it with equal settings.
 * Returns 0 or a positive error. After an error the state must not be used again: a message may
 * still be on its way, so the memory of this call is not given back. */
int a2av_run(struct a2av_transport *, const struct a2av_settings *, const struct a2av_job *,
             struct a2av_state *, struct a2av_counts *);

struct a2av_settings a2av_default_settings(void);

/* Return the name by which users choose an algorithm, and the algorithm of a name; -1 for a
 * name that is not one. */
const char *a2av_name(enum a2av_algorithm);
int a2av_by_name(const char *);

/* Tells whether the algorithm has leaders, and so asks the transport for nodes. */
bool a2av_has_leaders(enum a2av_algorithm);

#endif
