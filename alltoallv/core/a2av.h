/* The core of VAS's all-to-all of unequal blocks: bytes only, no MPI, no global state.
 *
 * A caller describes one call as a block for each rank (a2av_job), says how to pass messages
 * (a2av_transport), and runs an algorithm. All functions return 0, or a positive error: the
 * transport's own, or one of a2av_error. */
#ifndef VAS_A2AV_CORE_H
#define VAS_A2AV_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Larger than any MPI error class of Open MPI 4 and MPICH 4, so that the two never meet. */
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

/* The bytes of one part for a node of so many ranks. */
size_t a2av_window_bytes(int members);

/* How messages travel. A ticket is the transport's number of an operation that was started; each
 * is waited for exactly once. Messages of one sender with one tag arrive in the order sent. */
struct a2av_transport {
    int rank, size;
    int (*send)(struct a2av_transport *, const void *bytes, size_t count, int to, int tag,
                int *ticket);
    int (*receive)(struct a2av_transport *, void *bytes, size_t room, int from, int tag,
                   int *ticket);
    /* received: number of bytes that came, for a receive; may be NULL. */
    int (*wait)(struct a2av_transport *, int ticket, size_t *received);
    /* For the algorithms with leaders: the node of each rank, from 0 without gaps, equal on all
     * ranks; NULL says that each rank is alone. */
    const int *node_of;
    /* NULL on all ranks of a node where they share no memory: then messages do its work. */
    const struct a2av_window *window;
    /* Lets messages and the other ranks of the node get on; called while a rank waits for what
     * another writes into the window. Only needed with one. */
    int (*pause)(struct a2av_transport *);
};

/* One call: for each rank what it gets of us and what we get of it. Never written through `send`;
 * blocks of `receive` do not overlap one another, nor those of `send`. */
struct a2av_job {
    const unsigned char *const *send;
    const size_t *send_bytes;
    unsigned char *const *receive;
    const size_t *receive_bytes;
};

/* Equal on all ranks of a communicator. */
struct a2av_settings {
    enum a2av_algorithm algorithm;
    int radix;           /* 2 .. ranks; A2AV_SLOAV and A2AV_TWO_PHASE take 2 whatever it is */
    int leaders;         /* SLOAV2x: of a node; no more than the smallest node has ranks */
    int batch;           /* messages of one digit position in flight, 1 .. A2AV_BATCH_MAX */
    size_t direct_bytes; /* SLOAV2, SLOAV2x: blocks above this never relay */
    size_t eager_bytes;  /* SLOAV2: what the first message of a round carries at most, >= 64 */
    size_t piece_bytes;  /* the largest single message; a larger block travels in several */
};

/* The work of one call, counted on this rank. */
struct a2av_counts {
    uint64_t messages;       /* sent */
    uint64_t payload_bytes;  /* sent, of blocks, relayed ones included */
    uint64_t metadata_bytes; /* sent, of lengths and headers */
    uint64_t scratch_bytes;  /* the most memory held at one time, buffers of the state included */
};

/* State between calls on one communicator: the last header of each round. */
struct a2av_state;
struct a2av_state *a2av_state_new(void);
void a2av_state_free(struct a2av_state *);

/* Promises, on all ranks and before the first call, that the sizes of all blocks are the same in
 * each call with this state. From the second one on SLOAV2 and the leaders of SLOAV2x send blocks
 * alone: no lengths, and no message without a block. */
void a2av_state_plan(struct a2av_state *);

/* The blocks and bytes that a call moves. */
struct a2av_load {
    double blocks; /* that are not empty */
    double bytes;  /* of those that do not go direct */
    double direct; /* blocks that go direct */
};

/* Computes what one rank sends to the others, with blocks of these sizes for each rank. */
struct a2av_load a2av_load_sent(const size_t *send_bytes, int rank, int ranks,
                                size_t direct_bytes);

/* The messages and bytes of the last call by SLOAV2 or SLOAV2x: each is the largest that any rank
 * sent, in steps of at most a quarter, and the same on all ranks, so that they may choose by it.
 * False if there was none. */
bool a2av_state_load(const struct a2av_state *, struct a2av_load *);

/* Runs the algorithm on this rank. Every rank of the transport calls it with equal settings.
 * After an error the state must not be used again: a message may still be on its way, so the
 * memory of this call is not given back. */
int a2av_run(struct a2av_transport *, const struct a2av_settings *, const struct a2av_job *,
             struct a2av_state *, struct a2av_counts *);

struct a2av_settings a2av_default_settings(void);

/* The name by which users choose an algorithm, and back: -1 for a name that is not one. */
const char *a2av_name(enum a2av_algorithm);
int a2av_by_name(const char *);

/* Tells whether the algorithm asks the transport for nodes. */
bool a2av_has_leaders(enum a2av_algorithm);

#endif
