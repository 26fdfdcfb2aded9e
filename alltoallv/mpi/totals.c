#include "totals.h"

#include <stdbool.h>

static bool has_radix(enum a2av_algorithm algorithm)
{
    return algorithm == A2AV_TUNA || algorithm == A2AV_SLOAV2 || algorithm == A2AV_SLOAV2X;
}

static struct vas_tally *tally_of(struct vas_totals *totals, const struct a2av_settings *settings)
{
    enum a2av_algorithm algorithm = settings->algorithm;
    int radix = has_radix(algorithm) ? settings->radix : 0;
    int leaders = algorithm == A2AV_SLOAV2X ? settings->leaders : 0;
    for (int i = 0; i < totals->used; i++) {
        struct vas_tally *each = &totals->tallies[i];
        if (each->algorithm == algorithm && each->radix == radix && each->leaders == leaders)
            return each;
    }
    if (totals->used == VAS_TALLIES)
        return &totals->tallies[VAS_TALLIES - 1];
    struct vas_tally *fresh = &totals->tallies[totals->used++];
    *fresh = (struct vas_tally){.algorithm = algorithm, .radix = radix, .leaders = leaders};
    return fresh;
}

static void add_counts(struct a2av_counts *sum, const struct a2av_counts *counts)
{
    sum->messages += counts->messages;
    sum->payload_bytes += counts->payload_bytes;
    sum->metadata_bytes += counts->metadata_bytes;
    if (counts->scratch_bytes > sum->scratch_bytes)
        sum->scratch_bytes = counts->scratch_bytes;
}

void vas_totals_add(struct vas_totals *totals, const struct a2av_settings *settings,
                    const struct a2av_counts *counts, double seconds)
{
    struct vas_tally *tally = tally_of(totals, settings);
    tally->calls++;
    tally->seconds += seconds;
    add_counts(&tally->counts, counts);
}

unsigned long long vas_totals_calls(const struct vas_totals *totals)
{
    unsigned long long calls = 0;
    for (int i = 0; i < totals->used; i++)
        calls += totals->tallies[i].calls;
    for (int i = 0; i < VAS_PASSED_REASONS; i++)
        calls += totals->passed[i];
    return calls;
}

struct a2av_counts vas_totals_counts(const struct vas_totals *totals)
{
    struct a2av_counts sum = {0};
    for (int i = 0; i < totals->used; i++)
        add_counts(&sum, &totals->tallies[i].counts);
    return sum;
}
