#include "mailboxes.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TICKETS = 4096, ENDS = 2 };

/* A message, of which the send was started, or the receive, or both. As in MPI the starts of one
 * sender and tag belong together in their order. */
struct message {
    struct message *next; /* in the box, until both were started */
    struct box *box;
    pthread_cond_t changed;
    int from, tag, waited; /* how many of its ends were waited for */
    bool sent, wanted, delivered;
    const unsigned char *bytes; /* the sender's memory */
    unsigned char *copy;        /* what that was when the send started */
    unsigned char *to;
    size_t count, room;
};

struct ticket {
    struct message *message; /* NULL: free */
    bool sends;
};

/* The lock protects the messages to the box's rank. */
struct box {
    struct a2av_transport base; /* the first member */
    struct mailboxes *all;
    pthread_mutex_t lock;
    struct message *first, **last;
    struct ticket tickets[TICKETS];
    int next_ticket;
    struct a2av_window window;
    unsigned char **parts; /* of the node's ranks */
    unsigned char *own_part;
};

struct mailboxes {
    int ranks;
    enum mail mail;
    _Atomic uint64_t between, changed;
    struct box *boxes;
};

static int keep_ticket(struct box *own, struct message *message, bool sends)
{
    int ticket = own->next_ticket++ % TICKETS;
    if (own->tickets[ticket].message)
        fprintf(stderr, "rank %d: too many tickets\n", own->base.rank), abort();
    own->tickets[ticket] = (struct ticket){message, sends};
    return ticket;
}

/* Returns the oldest message whose other end was started, and takes it out of the box; or a new
 * one, that the other end will find. NULL without memory. */
static struct message *join(struct box *box, int from, int tag, bool sends)
{
    for (struct message **at = &box->first; *at; at = &(*at)->next) {
        struct message *found = *at;
        if (found->from == from && found->tag == tag && found->sent != sends) {
            *at = found->next;
            if (!found->next)
                box->last = at;
            return found;
        }
    }
    struct message *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    *made = (struct message){.box = box, .from = from, .tag = tag};
    pthread_cond_init(&made->changed, NULL);
    *box->last = made;
    box->last = &made->next;
    return made;
}

static int send_message(struct a2av_transport *base, const void *bytes, size_t count, int to,
                        int tag, int *ticket)
{
    struct box *own = (struct box *)base, *box = &own->all->boxes[to];
    unsigned char *copy = malloc(count + 1);
    if (!copy)
        return A2AV_NO_MEMORY;
    if (count > 0)
        memcpy(copy, bytes, count);
    if (base->node_of && base->node_of[base->rank] != base->node_of[to])
        own->all->between++;
    pthread_mutex_lock(&box->lock);
    struct message *message = join(box, base->rank, tag, true);
    if (message) {
        message->sent = true;
        message->bytes = bytes;
        message->copy = copy;
        message->count = count;
        pthread_cond_signal(&message->changed);
    }
    pthread_mutex_unlock(&box->lock);
    if (!message) {
        free(copy);
        return A2AV_NO_MEMORY;
    }
    *ticket = keep_ticket(own, message, true);
    return 0;
}

static int want_message(struct a2av_transport *base, void *bytes, size_t room, int from, int tag,
                        int *ticket)
{
    struct box *own = (struct box *)base;
    pthread_mutex_lock(&own->lock);
    struct message *message = join(own, from, tag, false);
    if (message) {
        message->wanted = true;
        message->to = bytes;
        message->room = room;
        pthread_cond_signal(&message->changed);
    }
    pthread_mutex_unlock(&own->lock);
    if (!message)
        return A2AV_NO_MEMORY;
    *ticket = keep_ticket(own, message, false);
    return 0;
}

/* Moves the bytes, if both ends were started. */
static void deliver(struct message *message)
{
    if (message->delivered || !message->sent || !message->wanted)
        return;
    bool late = message->box->all->mail == MAIL_LATE;
    if (message->count > 0 && message->count <= message->room)
        memcpy(message->to, late ? message->bytes : message->copy, message->count);
    message->delivered = true;
    pthread_cond_signal(&message->changed);
}

static bool has_changed(const struct message *message)
{
    return message->count > 0 && memcmp(message->bytes, message->copy, message->count) != 0;
}

static int wait_message(struct a2av_transport *base, int ticket, size_t *received)
{
    struct box *own = (struct box *)base;
    struct message *message = own->tickets[ticket].message;
    bool sends = own->tickets[ticket].sends;
    struct box *box = message->box;
    bool ends = sends && own->all->mail == MAIL_COPIED;
    own->tickets[ticket].message = NULL;
    pthread_mutex_lock(&box->lock);
    for (deliver(message); !message->delivered && !ends; deliver(message))
        pthread_cond_wait(&message->changed, &box->lock);
    int error = !sends && message->count > message->room ? A2AV_WRONG_SIZE : 0;
    if (received)
        *received = message->count;
    if (sends && has_changed(message))
        own->all->changed++;
    bool last = ++message->waited == ENDS;
    pthread_mutex_unlock(&box->lock);
    if (last) {
        pthread_cond_destroy(&message->changed);
        free(message->copy);
        free(message);
    }
    return error;
}

static int give_way(struct a2av_transport *base)
{
    (void)base;
    sched_yield();
    return 0;
}

struct mailboxes *mailboxes_new(int ranks, enum mail mail)
{
    struct mailboxes *all = calloc(1, sizeof *all);
    all->ranks = ranks;
    all->mail = mail;
    all->boxes = calloc((size_t)ranks, sizeof *all->boxes);
    for (int rank = 0; rank < ranks; rank++) {
        struct box *box = &all->boxes[rank];
        box->base = (struct a2av_transport){.rank = rank, .size = ranks, .send = send_message,
                                             .receive = want_message, .wait = wait_message,
                                             .pause = give_way};
        box->all = all;
        box->last = &box->first;
        pthread_mutex_init(&box->lock, NULL);
    }
    return all;
}

void mailboxes_free(struct mailboxes *all)
{
    for (int rank = 0; rank < all->ranks; rank++) {
        struct box *box = &all->boxes[rank];
        for (int ticket = 0; ticket < TICKETS; ticket++)
            if (box->first || box->tickets[ticket].message)
                fprintf(stderr, "rank %d: a message that nobody waited for\n", rank), abort();
        free(box->parts);
        free(box->own_part);
        pthread_mutex_destroy(&box->lock);
    }
    free(all->boxes);
    free(all);
}

struct a2av_transport *mailboxes_rank(struct mailboxes *all, int rank)
{
    return &all->boxes[rank].base;
}

void mailboxes_put_on_nodes(struct mailboxes *all, const int *node_of, bool shared)
{
    for (int rank = 0; rank < all->ranks; rank++) {
        struct box *box = &all->boxes[rank];
        int members = 0;
        box->base.node_of = node_of;
        for (int other = 0; other < all->ranks; other++)
            members += node_of[other] == node_of[rank];
        size_t bytes = a2av_window_bytes(members);
        box->own_part = shared ? aligned_alloc(64, bytes) : NULL;
        if (shared)
            memset(box->own_part, 0, bytes);
        box->parts = shared ? malloc((size_t)members * sizeof *box->parts) : NULL;
    }
    for (int rank = 0; rank < all->ranks && shared; rank++) {
        struct box *box = &all->boxes[rank];
        for (int other = 0, i = 0; other < all->ranks; other++)
            if (node_of[other] == node_of[rank])
                box->parts[i++] = all->boxes[other].own_part;
        box->window.parts = box->parts;
        box->base.window = &box->window;
    }
}

uint64_t mailboxes_between_nodes(const struct mailboxes *all)
{
    return all->between;
}

uint64_t mailboxes_changed(const struct mailboxes *all)
{
    return all->changed;
}
