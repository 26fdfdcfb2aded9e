/* Tests the core between threads: results, rounds, messages and memory, counted. No MPI is needed.
 *
 *   core-test                  every check; exits with 1 where one fails
 *   core-test count RANKS BYTES ALGORITHM RADIX [HOT_BYTES]
 *                              prints messages, bytes and memory of rank 0 in a second call */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../core/lengths.h"
#include "../core/load.h"
#include "../core/schedule.h"
#include "mailboxes.h"
#include "shapes.h"

static void check_lengths(void)
{
    const uint64_t values[] = {0, 1, 191, 192, 193, 6335, 6336, 1u << 20, 0, 0, UINT64_MAX, 0};
    enum { VALUES = sizeof values / sizeof *values };
    unsigned char bytes[(VALUES + 300) * A2AV_LENGTH_BYTES];
    struct a2av_length_writer writer = {.at = bytes};
    for (int i = 0; i < VALUES + 300; i++)
        a2av_write_length(&writer, i < VALUES ? values[i] : 0);
    a2av_end_lengths(&writer);
    struct a2av_length_reader reader = {bytes, writer.at, 0};
    uint64_t length;
    for (int i = 0; i < VALUES + 300; i++) {
        CHECK(a2av_read_length(&reader, &length) == 0);
        CHECK(length == (i < VALUES ? values[i] : 0));
    }
    CHECK(reader.at == reader.end && a2av_read_length(&reader, &length) == A2AV_BAD_MESSAGE);
}

/* Checks that every block makes the hops of its digits, once each, and arrives with the last. */
static void check_schedule(int ranks, int radix)
{
    int *travelled = calloc((size_t)ranks, sizeof *travelled);
    bool *arrived = calloc((size_t)ranks, sizeof *arrived);
    struct a2av_round round;
    for (bool more = a2av_first_round(&round, ranks); more;
         more = a2av_next_round(&round, radix, ranks))
        for (int by = a2av_first_distance(&round); by < ranks;
             by = a2av_next_distance(&round, radix, ranks, by)) {
            CHECK(by / round.weight % radix == round.digit && !arrived[by]);
            CHECK(a2av_departs(&round, by) == (travelled[by] == 0));
            travelled[by] += a2av_first_distance(&round);
            arrived[by] = a2av_arrives(&round, radix, by);
            CHECK(arrived[by] == (travelled[by] == by));
        }
    for (int by = 1; by < ranks; by++)
        CHECK(arrived[by] && travelled[by] == by);
    free(travelled);
    free(arrived);
}

static void check_results(void)
{
    const int ranks[] = {1, 2, 3, 5, 8, 13, 33};
    for (int algorithm = 0; algorithm < A2AV_ALGORITHMS; algorithm++)
        for (int i = 0; i < 7; i++)
            for (int radix = 2; radix < 8; radix += 2) {
                struct shape shape = shape_of(ranks[i], 300, (enum a2av_algorithm)algorithm, radix);
                shape.uneven = true;
                shape.settings.direct_bytes = 250;
                shape.settings.eager_bytes = 64 * (size_t)radix;
                shape.settings.piece_bytes = 1000;
                shape.settings.batch = radix / 2;
                run_all(&shape);
            }
}

/* Checks the algorithms with leaders: nodes of any size, with shared memory and without,
 * strings that have room in it and others. */
static void check_leaders(void)
{
    const int ranks[] = {2, 5, 9, 17, 24}, nodes[] = {1, 2, 3, 5};
    for (int i = 0; i < 5 * 4 * 4; i++) {
        struct shape shape = shape_of(ranks[i % 5], i % 3 ? 60 : 5000, A2AV_SLOAV2X, 2 + i % 2);
        shape.nodes = nodes[i / 5 % 4] < shape.ranks ? nodes[i / 5 % 4] : shape.ranks;
        shape.shared = i & 1;
        shape.uneven = true;
        shape.calls = 3;
        shape.settings.leaders = 1 + i % 3;
        shape.settings.direct_bytes = i % 3 ? 50 : 100000;
        shape.settings.eager_bytes = 64;
        shape.settings.piece_bytes = 1000;
        run_all(&shape);
        shape.settings.algorithm = A2AV_SLOAVX;
        run_all(&shape);
    }
    /* Strings of more than the window holds. */
    struct shape large = shape_of(6, 300000, A2AV_SLOAV2X, 2);
    large.nodes = 2;
    large.shared = true;
    large.settings.direct_bytes = SIZE_MAX;
    run_all(&large);
    large.settings.algorithm = A2AV_SLOAVX;
    run_all(&large);
}

/* Checks nodes of different sizes whose number of leaders changes and changes back: a rank may
 * lead in both, and its partner in one. */
static void check_other_leaders(void)
{
    const int sizes[] = {16, 16, 4};
    for (int leaders = 1; leaders < 4; leaders++)
        for (int other = 1; other < 4; other++) {
            struct shape shape = shape_of(36, 20, A2AV_SLOAV2X, 2);
            shape.nodes = 3;
            shape.sizes = sizes;
            shape.shared = other & 1;
            shape.calls = 5;
            shape.settings.leaders = leaders;
            shape.other_leaders = other;
            run_all(&shape);
        }
}

/* Checks what goes between nodes: a message a round of a leader, and none of rounds that its
 * class does not have. */
static void check_between_nodes(void)
{
    struct shape shape = shape_of(16, 8, A2AV_SLOAV2X, 2);
    uint64_t between;
    shape.nodes = 4;
    shape.calls = 1;
    shape.settings.leaders = 1;
    run_nodes(&shape, &between);
    CHECK(between == 4 * 2);
    shape.settings.leaders = 2;
    run_nodes(&shape, &between);
    CHECK(between == 4 * 3);
    shape.settings.algorithm = A2AV_SLOAVX;
    run_nodes(&shape, &between);
    CHECK(between == 4 * 2 * 2);
    /* With shared memory nothing else is sent inside a node either. */
    shape.settings.algorithm = A2AV_SLOAV2X;
    shape.shared = true;
    CHECK(run_all(&shape).messages <= 2);
}

/* Checks that SLOAV2 sends one message a round, SLOAV two, and that the lengths of a second
 * equal call are a byte. */
static void check_counts(void)
{
    struct shape shape = shape_of(64, 8, A2AV_SLOAV2, 2);
    struct a2av_counts counts = run_all(&shape);
    CHECK(counts.messages == 6 && counts.payload_bytes == 6 * 32 * 8);
    CHECK(counts.metadata_bytes == 6);
    shape.settings.algorithm = A2AV_SLOAV;
    CHECK(run_all(&shape).messages == 12);
    shape.settings.algorithm = A2AV_TWO_PHASE;
    CHECK(run_all(&shape).messages == 18);
    shape.settings.algorithm = A2AV_LINEAR;
    CHECK(run_all(&shape).messages == 63);
}

/* Checks that all ranks know of the load of rank 0, which alone sends much, in a step of at
 * most a quarter above. */
static void check_load(void)
{
    for (int i = 0; i < 8; i++) {
        struct shape shape = shape_of(13, 10, i % 2 ? A2AV_SLOAV2X : A2AV_SLOAV2, 2 + i);
        struct a2av_load load;
        shape.nodes = i % 2 ? 4 : 0;
        shape.shared = i % 4 == 1;
        shape.hot = i < 4 ? 1000 : 5000;
        run_loaded(&shape, NULL, &load);
        CHECK(load.blocks == 12 && load.direct == (i < 4 ? 0 : 1));
        double bytes = i < 4 ? 110 + 1000 : 120; /* another rank than 0 has 120 */
        CHECK(load.bytes <= bytes && load.bytes > bytes / 1.25);
    }
    for (uint64_t value = 0; value < 100000; value++) {
        double again = a2av_load_value(a2av_load_step(value));
        CHECK(again <= (double)value && again * 1.25 >= (double)value);
    }
}

/* Checks that a plan's second call has blocks alone, in messages of known sizes, and none
 * without a block. */
static void check_plans(void)
{
    struct shape shape = shape_of(64, 8, A2AV_SLOAV2, 2);
    shape.planned = true;
    struct a2av_counts counts = run_all(&shape);
    CHECK(counts.messages == 6 && counts.metadata_bytes == 0);
    shape.bytes = 0;
    shape.hot = 40; /* from 0 to 63: every round of the way, by another rank each */
    counts = run_all(&shape);
    CHECK(counts.messages == 1 && counts.payload_bytes == 40);
    for (int ranks = 1; ranks < 14; ranks += 3) {
        shape = shape_of(ranks, 300, A2AV_SLOAV2, 2 + ranks % 3);
        shape.calls = 3;
        shape.planned = shape.uneven = true;
        shape.settings.direct_bytes = 250;
        shape.settings.eager_bytes = shape.settings.piece_bytes = 100;
        run_all(&shape);
        shape.nodes = ranks < 3 ? ranks : 3;
        shape.settings.algorithm = A2AV_SLOAV2X;
        run_all(&shape);
    }
}

/* Checks the memory for one block of 1 MiB among small ones: SLOAV2 holds little, two-phase P times
 * the block. */
static void check_memory(void)
{
    struct shape shape = shape_of(128, 8, A2AV_SLOAV2, 2);
    shape.hot = 1 << 20;
    CHECK(run_all(&shape).scratch_bytes < 64 * 1024);
    shape.settings.algorithm = A2AV_TWO_PHASE;
    CHECK(run_all(&shape).scratch_bytes > (uint64_t)128 << 20);
}

/* Checks that the mailboxes tell of a send buffer that is written too early, and what arrives then:
 * the late ones pass on what the buffer has when the message is received. */
static void check_mailboxes(void)
{
    for (int late = 0; late < 2; late++) {
        struct mailboxes *boxes = mailboxes_new(2, late ? MAIL_LATE : MAIL_COPIED);
        struct a2av_transport *one = mailboxes_rank(boxes, 0), *two = mailboxes_rank(boxes, 1);
        unsigned char out[2] = {1, 2}, in[2] = {0};
        int sent[2], wanted[2];
        for (int i = 0; i < 2; i++) {
            CHECK(one->send(one, &out[i], 1, 1, A2AV_TAG_ROUND, &sent[i]) == 0);
            CHECK(two->receive(two, &in[i], 1, 0, A2AV_TAG_ROUND, &wanted[i]) == 0);
        }
        out[0] = 3;
        for (int i = 1; i >= 0; i--)
            CHECK(two->wait(two, wanted[i], NULL) == 0);
        CHECK(in[0] == (late ? 3 : 1) && in[1] == 2);
        for (int i = 0; i < 2; i++)
            CHECK(one->wait(one, sent[i], NULL) == 0);
        CHECK(mailboxes_changed(boxes) == 1);
        mailboxes_free(boxes);
    }
}

static int print_counts(char **argv, int argc)
{
    int algorithm = a2av_by_name(argv[4]);
    if (algorithm < 0)
        return 2;
    struct shape shape = shape_of(atoi(argv[2]), (size_t)atol(argv[3]),
                                  (enum a2av_algorithm)algorithm, atoi(argv[5]));
    shape.hot = argc > 6 ? (size_t)atol(argv[6]) : 0;
    struct a2av_counts counts = run_all(&shape);
    printf("{\"messages\": %" PRIu64 ", \"payload_bytes\": %" PRIu64 ", \"metadata_bytes\": %"
           PRIu64 ", \"scratch_bytes\": %" PRIu64 "}\n",
           counts.messages, counts.payload_bytes, counts.metadata_bytes, counts.scratch_bytes);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc >= 6 && strcmp(argv[1], "count") == 0)
        return print_counts(argv, argc);
    check_lengths();
    check_mailboxes();
    for (int ranks = 1; ranks < 70; ranks++)
        for (int radix = 2; radix <= ranks + 1; radix++)
            check_schedule(ranks, radix);
    check_schedule(16384, 3);
    check_results();
    check_leaders();
    check_other_leaders();
    check_between_nodes();
    check_counts();
    check_plans();
    check_load();
    check_memory();
    puts("core-test: every check holds");
    return 0;
}
