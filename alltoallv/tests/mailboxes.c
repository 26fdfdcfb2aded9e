#include "mailboxes.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TICKETS = 4096, SENT = -1 };

struct letter {
    struct letter *next;
    int from, tag;
    size_t count;
    unsigned char bytes[];
};

struct wanted {
    void *bytes;
    size_t room;
    int from, tag;
};

struct box {
    struct a2av_transport base; /* the first member */
    struct mailboxes *all;
    pthread_mutex_t lock;
    pthread_cond_t came;
    struct letter *first, **last;
    struct wanted wanted[TICKETS];
    int next_ticket;
    struct a2av_window window;
    unsigned char **parts; /* of the node's ranks */
    unsigned char *own_part;
};

struct mailboxes {
    int ranks;
    _Atomic uint64_t between;
    struct box *boxes;
};

static int send_letter(struct a2av_transport *base, const void *bytes, size_t count, int to,
                       int tag, int *ticket)
{
    struct box *own = (struct box *)base, *box = &own->all->boxes[to];
    struct letter *letter = malloc(sizeof *letter + count);
    if (!letter)
        return A2AV_NO_MEMORY;
    if (base->node_of && base->node_of[base->rank] != base->node_of[to])
        own->all->between++;
    *letter = (struct letter){.from = base->rank, .tag = tag, .count = count};
    if (count > 0)
        memcpy(letter->bytes, bytes, count);
    pthread_mutex_lock(&box->lock);
    *box->last = letter;
    box->last = &letter->next;
    pthread_cond_signal(&box->came);
    pthread_mutex_unlock(&box->lock);
    *ticket = SENT;
    return 0;
}

static int want_letter(struct a2av_transport *base, void *bytes, size_t room, int from, int tag,
                       int *ticket)
{
    struct box *own = (struct box *)base;
    *ticket = own->next_ticket++ % TICKETS;
    own->wanted[*ticket] = (struct wanted){bytes, room, from, tag};
    return 0;
}

static struct letter *take(struct box *own, const struct wanted *wanted)
{
    for (struct letter **at = &own->first; *at; at = &(*at)->next) {
        struct letter *letter = *at;
        if (letter->from == wanted->from && letter->tag == wanted->tag) {
            *at = letter->next;
            if (!letter->next)
                own->last = at;
            return letter;
        }
    }
    return NULL;
}

static int wait_letter(struct a2av_transport *base, int ticket, size_t *received)
{
    struct box *own = (struct box *)base;
    struct letter *letter;
    if (ticket == SENT)
        return 0;
    const struct wanted *wanted = &own->wanted[ticket];
    pthread_mutex_lock(&own->lock);
    while (!(letter = take(own, wanted)))
        pthread_cond_wait(&own->came, &own->lock);
    pthread_mutex_unlock(&own->lock);
    int error = letter->count > wanted->room ? A2AV_WRONG_SIZE : 0;
    if (!error && letter->count > 0)
        memcpy(wanted->bytes, letter->bytes, letter->count);
    if (received)
        *received = letter->count;
    free(letter);
    return error;
}

static int give_way(struct a2av_transport *base)
{
    (void)base;
    sched_yield();
    return 0;
}

struct mailboxes *mailboxes_new(int ranks)
{
    struct mailboxes *all = calloc(1, sizeof *all);
    all->ranks = ranks;
    all->boxes = calloc((size_t)ranks, sizeof *all->boxes);
    for (int rank = 0; rank < ranks; rank++) {
        struct box *box = &all->boxes[rank];
        box->base = (struct a2av_transport){.rank = rank, .size = ranks, .send = send_letter,
                                             .receive = want_letter, .wait = wait_letter,
                                             .pause = give_way};
        box->all = all;
        box->last = &box->first;
        pthread_mutex_init(&box->lock, NULL);
        pthread_cond_init(&box->came, NULL);
    }
    return all;
}

void mailboxes_free(struct mailboxes *all)
{
    for (int rank = 0; rank < all->ranks; rank++) {
        if (all->boxes[rank].first)
            fprintf(stderr, "rank %d: a message that nobody took\n", rank), abort();
        free(all->boxes[rank].parts);
        free(all->boxes[rank].own_part);
        pthread_mutex_destroy(&all->boxes[rank].lock);
        pthread_cond_destroy(&all->boxes[rank].came);
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
