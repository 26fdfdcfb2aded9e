/* Passes messages between threads of one process: a transport for the core without any MPI. */
#ifndef VAS_A2AV_TESTS_MAILBOXES_H
#define VAS_A2AV_TESTS_MAILBOXES_H

#include "../core/a2av.h"

struct mailboxes;

/* When the bytes of a message are read. */
enum mail {
    MAIL_COPIED, /* when its send starts; a send has ended at once */
    MAIL_LATE    /* when its receiver or its sender waits for it; a send ends after that */
};

struct mailboxes *mailboxes_new(int ranks, enum mail mail);
/* Puts ranks on nodes, with memory that a node's ranks share or without. */
void mailboxes_put_on_nodes(struct mailboxes *, const int *node_of, bool shared);

/* Returns the number of messages that went from one node to another. */
uint64_t mailboxes_between_nodes(const struct mailboxes *);

/* Returns the number of messages whose bytes were written between the start of their send and its
 * end. */
uint64_t mailboxes_changed(const struct mailboxes *);

/* Frees the memory. Ends the program where a message or an operation was not waited for. */
void mailboxes_free(struct mailboxes *);

/* Returns the transport of a rank, which lives as long as the mailboxes. */
struct a2av_transport *mailboxes_rank(struct mailboxes *, int rank);

#endif
