/* Prints what was done on a communicator: lines for people, or one JSON object. */
#include <stdarg.h>
#include <stdio.h>

#include "communicator.h"

enum { LINE_BYTES = 16384 };

/* The text is printed at once, so that no line of another process falls into it. */
struct text {
    char bytes[LINE_BYTES];
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
    va_list values;
    size_t room = LINE_BYTES - text->length;
    va_start(values, format);
    int written = vsnprintf(text->bytes + text->length, room, format, values);
    va_end(values);
    if (written > 0)
        text->length += (size_t)written < room ? (size_t)written : room - 1;
}

static const char *reason(const struct vas_communicator *own, enum vas_passed passed)
{
    switch (passed) {
    case VAS_PASSED_ALL:
        return own->passes ? own->passes : "-";
    case VAS_PASSED_CHOICE:
        return "it was predicted or measured to be faster, or timed for comparison";
    case VAS_PASSED_EQUAL:
        return "equal blocks, which it was predicted or measured to exchange well";
    case VAS_PASSED_REQUESTS:
        return "persistent requests, predicted to be faster so, or without MPI_THREAD_MULTIPLE";
    default:
        return "wrong arguments";
    }
}

static int nodes_of(const struct vas_communicator *own)
{
    const int *node_of = own->nodes.node_of;
    int nodes = 0;
    for (int rank = 0; node_of && rank < own->ranks; rank++)
        nodes = node_of[rank] >= nodes ? node_of[rank] + 1 : nodes;
    return nodes;
}

static void print_tally(const struct vas_communicator *own, const struct vas_tally *tally)
{
    struct text text = {.length = 0};
    const struct a2av_counts *counts = &tally->counts;
    add(&text, "vas-a2av: %d ranks: %llu calls by %s", own->ranks, tally->calls,
        a2av_name(tally->algorithm));
    if (tally->radix > 0)
        add(&text, " (radix %d", tally->radix);
    if (tally->leaders > 0)
        add(&text, ", %d leaders", tally->leaders);
    add(&text,
        "%s in %.6f s; rank %d sent %llu messages, %llu B of blocks, %llu B of lengths, held at "
        "most %llu B\n",
        tally->radix > 0 ? ")" : "", tally->seconds, own->rank,
        (unsigned long long)counts->messages, (unsigned long long)counts->payload_bytes,
        (unsigned long long)counts->metadata_bytes, (unsigned long long)counts->scratch_bytes);
    fputs(text.bytes, stderr);
}

static void print_lines(const struct vas_communicator *own)
{
    const struct vas_totals *totals = &own->totals;
    for (int i = 0; i < totals->used; i++)
        print_tally(own, &totals->tallies[i]);
    for (int i = 0; i < VAS_PASSED_REASONS; i++)
        if (totals->passed[i] > 0)
            fprintf(stderr, "vas-a2av: %d ranks: %llu calls passed to MPI: %s\n", own->ranks,
                    totals->passed[i], reason(own, (enum vas_passed)i));
    int nodes = nodes_of(own);
    if (nodes > 0)
        fprintf(stderr, "vas-a2av: %d ranks: %d nodes, %s shared memory\n", own->ranks, nodes,
                own->nodes.parts ? "with" : "without");
}

static void add_tally(struct text *text, const struct vas_tally *tally)
{
    const struct a2av_counts *counts = &tally->counts;
    add(text,
        "{\"algorithm\": \"%s\", \"radix\": %d, \"leaders\": %d, \"calls\": %llu, \"seconds\": "
        "%.9f, \"messages\": %llu, \"payload_bytes\": %llu, \"metadata_bytes\": %llu, "
        "\"scratch_bytes\": %llu}",
        a2av_name(tally->algorithm), tally->radix, tally->leaders, tally->calls, tally->seconds,
        (unsigned long long)counts->messages, (unsigned long long)counts->payload_bytes,
        (unsigned long long)counts->metadata_bytes, (unsigned long long)counts->scratch_bytes);
}

static void print_json(const struct vas_communicator *own)
{
    const struct vas_totals *totals = &own->totals;
    struct text text = {.length = 0};
    add(&text, "{\"vas_a2av\": {\"ranks\": %d, \"rank\": %d, \"nodes\": %d, ", own->ranks,
        own->rank, nodes_of(own));
    add(&text, "\"shared_memory\": %s, \"served\": [", own->nodes.parts ? "true" : "false");
    for (int i = 0; i < totals->used; i++) {
        add(&text, "%s", i > 0 ? ", " : "");
        add_tally(&text, &totals->tallies[i]);
    }
    add(&text, "], \"passed\": [");
    const char *gap = "";
    for (int i = 0; i < VAS_PASSED_REASONS; i++)
        if (totals->passed[i] > 0) {
            add(&text, "%s{\"calls\": %llu, \"why\": \"%s\"}", gap, totals->passed[i],
                reason(own, (enum vas_passed)i));
            gap = ", ";
        }
    add(&text, "]}}\n");
    fputs(text.bytes, stderr);
}

void vas_communicator_report(const struct vas_communicator *own)
{
    if (vas_totals_calls(&own->totals) == 0)
        return;
    if (own->settings.report == VAS_REPORT_JSON)
        print_json(own);
    else
        print_lines(own);
}
