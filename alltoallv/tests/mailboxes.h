/* Passes messages between threads of one process: a transport for the core without any MPI. */
#ifndef VAS_A2AV_TESTS_MAILBOXES_H
#define VAS_A2AV_TESTS_MAILBOXES_H

#include "../core/a2av.h"

struct mailboxes;

struct mailboxes *mailboxes_new(int ranks);
/* Puts ranks on nodes, with memory that a node's ranks share or without. */
void mailboxes_put_on_nodes(struct mailboxes *, const int *node_of, bool shared);

/* Returns the number of messages that went from one node to another. */
uint64_t mailboxes_between_nodes(const struct mailboxes *);

void mailboxes_free(struct mailboxes *);

/* Returns the transport of a rank, which lives as long as the mailboxes. */
struct a2av_transport *mailboxes_rank(struct mailboxes *, int rank);

#endif
