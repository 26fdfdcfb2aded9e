#include "layout.h"

#include <stdlib.h>

enum { ALL_ZERO, FEW, UNIFORM, EQUAL, HUGE, POWER_LAW, ONE_SENDS, NEIGHBOURS, PATTERNS };
enum { MARGIN = 256, HUGE_UNITS = 20000, BEFORE = 2 * (int)sizeof(int) };

struct oracle_case case_of(uint64_t seed, int number, int ranks)
{
    struct dice dice = dice_of(seed, (uint64_t)number, 1);
    struct oracle_case is = {.seed = dice_next(&dice), .number = number, .ranks = ranks};
    is.pattern = dice_below(&dice, PATTERNS);
    is.in_place = dice_below(&dice, 6) == 0;
    /* Not on one rank: there Open MPI 4.1.4 multiplies MPI_Alltoallw's displacements, which are
     * bytes, by the extent, and writes past the buffer. */
    is.by_rank = dice_below(&dice, 4) == 0 && ranks > 1;
    is.wide = dice_below(&dice, 4) == 0;
    is.null_if_empty = dice_below(&dice, 2) == 0;
    is.huge_from = dice_below(&dice, ranks);
    is.huge_to = dice_below(&dice, ranks);
    return is;
}

static int units_of_pattern(const struct oracle_case *is, int from, int to, struct dice *dice)
{
    switch (is->pattern) {
    case ALL_ZERO:
        return 0;
    case FEW:
        return dice_below(dice, 5) == 0 ? 1 + dice_below(dice, 3) : 0;
    case UNIFORM:
        return dice_below(dice, 25);
    case EQUAL:
        return 2;
    case HUGE:
        return from == is->huge_from && to == is->huge_to ? HUGE_UNITS : dice_below(dice, 4);
    case POWER_LAW:
        return 2000 / (1 + dice_below(dice, 2000)) - 1;
    case ONE_SENDS:
        return from == is->huge_from ? 1 + dice_below(dice, 300) : 0;
    default:
        return (to - from + is->ranks) % is->ranks < 3 ? 1 + dice_below(dice, 200) : 0;
    }
}

int case_units(const struct oracle_case *is, int from, int to)
{
    /* In place, what goes there and back has one size. */
    int a = is->in_place && from > to ? to : from;
    int b = is->in_place && from > to ? from : to;
    struct dice dice = dice_of(is->seed, (uint64_t)a, (uint64_t)b);
    return units_of_pattern(is, a, b, &dice);
}

static int *shuffled(int ranks, struct dice *dice)
{
    int *order = malloc((size_t)ranks * sizeof *order);
    for (int i = 0; i < ranks; i++)
        order[i] = i;
    for (int i = ranks - 1; i > 0; i--) {
        int other = dice_below(dice, i + 1), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    return order;
}

static void allocate(struct layout *own, size_t ranks)
{
    own->counts = calloc(ranks, sizeof *own->counts);
    own->displacements = calloc(ranks, sizeof *own->displacements);
    own->wide_counts = calloc(ranks, sizeof *own->wide_counts);
    own->wide_displacements = calloc(ranks, sizeof *own->wide_displacements);
    own->types = calloc(ranks, sizeof *own->types);
}

void layout_make(struct layout *own, const struct oracle_case *is, const struct type_kind *kinds,
                 int rank, bool sends)
{
    struct dice dice = dice_of(is->seed, (uint64_t)rank, sends ? 1001 : 1002);
    int common = dice_below(&dice, TYPES), *order = shuffled(is->ranks, &dice);
    MPI_Aint at = 0; /* in extents of the type, or in bytes with a type for each rank */
    allocate(own, (size_t)is->ranks);
    own->empty = true;
    for (int i = 0; i < is->ranks; i++) {
        int other = order[i];
        int units = sends ? case_units(is, rank, other) : case_units(is, other, rank);
        const struct type_kind *kind = &kinds[is->by_rank ? dice_below(&dice, TYPES) : common];
        int count = units * kind->per_unit;
        /* One kind begins before its address: among others it needs the room. */
        at += is->by_rank ? BEFORE : 0;
        own->types[other] = kind->type;
        own->wide_counts[other] = own->counts[other] = count;
        own->wide_displacements[other] = own->displacements[other] = (int)at;
        at += (is->by_rank ? kind->extent : 1) * (MPI_Aint)count;
        at += dice_below(&dice, 3) * (is->by_rank ? (int)sizeof(int) : 1);
        own->empty = own->empty && count == 0;
    }
    free(order);
    own->margin = MARGIN;
    own->bytes = (size_t)at * (size_t)(is->by_rank ? 1 : kinds[common].extent) + 2 * MARGIN;
}

void layout_free(struct layout *own)
{
    free(own->counts);
    free(own->displacements);
    free(own->wide_counts);
    free(own->wide_displacements);
    free(own->types);
}

struct vas_side layout_side(const struct layout *own, const struct oracle_case *is,
                            const void *base)
{
    struct vas_side side = {.base = base, .types = own->types, .by_rank = is->by_rank};
    side.wide = is->wide;
    side.counts = is->wide ? (const void *)own->wide_counts : own->counts;
    side.displacements = is->wide ? (const void *)own->wide_displacements : own->displacements;
    return side;
}
