#include "layout.h"

#include <stdlib.h>

enum { ALL_ZERO, FEW, UNIFORM, EQUAL, HUGE, POWER_LAW, ONE_SENDS, NEIGHBOURS, PATTERNS };
/* Kinds begin up to two ints before their address, and end up to two behind their extent. */
enum { MARGIN = 256, HUGE_UNITS = 20000, AROUND = 4 * (int)sizeof(int) };

struct oracle_case case_of(uint64_t seed, int number, int ranks, bool null_types)
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
    is.overlaps = dice_below(&dice, 4) == 0;
    is.bottom = dice_below(&dice, 6) == 0;
    is.null_type = null_types && is.by_rank && dice_below(&dice, 2) == 0;
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

/* Returns the kind of one block, and sets the number of its elements. Where no unit is sent it may
 * be some elements of nothing, or none of no type. */
static int kind_of_block(const struct oracle_case *is, int common, int units, struct dice *dice,
                         const struct type_kind *kinds, int *count)
{
    int kind = is->by_rank ? dice_below(dice, TYPES) : common;
    bool other = is->by_rank && units == 0 && dice_below(dice, 2) == 0;
    if (other)
        kind = is->null_type && dice_below(dice, 2) == 0 ? NULL_TYPE : NOTHING;
    *count = kind == NOTHING ? dice_below(dice, 4) : units * kinds[kind].per_unit;
    return kind;
}

static bool has_units(const struct oracle_case *is, int rank, bool sends)
{
    for (int other = 0; other < is->ranks; other++)
        if (sends ? case_units(is, rank, other) : case_units(is, other, rank))
            return true;
    return false;
}

/* Lets the address that is passed be one within the blocks: those before it have negative
 * displacements. Returns how far it was moved. */
static int shift(struct layout *own, int ranks, int end, struct dice *dice)
{
    int by = dice_below(dice, 3) == 0 ? dice_below(dice, end + 1) : 0;
    for (int i = 0; i < ranks; i++) {
        own->displacements[i] -= by;
        own->wide_displacements[i] -= by;
    }
    return by;
}

void layout_make(struct layout *own, const struct oracle_case *is, const struct type_kind *kinds,
                 int rank, bool sends)
{
    struct dice dice = dice_of(is->seed, (uint64_t)rank, sends ? 1001 : 1002);
    int common = dice_below(&dice, TYPES), *order = shuffled(is->ranks, &dice);
    int at = 0, end = 0; /* in extents of the type, or in bytes with a type for each rank */
    if (!is->by_rank && dice_below(&dice, 2) == 0 && !has_units(is, rank, sends))
        common = NOTHING;
    *own = (struct layout){.empty = true};
    allocate(own, (size_t)is->ranks);
    for (int i = 0; i < is->ranks; i++) {
        int other = order[i], count;
        int units = sends ? case_units(is, rank, other) : case_units(is, other, rank);
        int kind = kind_of_block(is, common, units, &dice, kinds, &count);
        if (sends && is->overlaps)
            at = dice_below(&dice, end + 1) / (int)sizeof(int) * (int)sizeof(int);
        at += is->by_rank ? AROUND : 0;
        own->types[other] = kinds[kind].type;
        own->wide_counts[other] = own->counts[other] = count;
        own->wide_displacements[other] = own->displacements[other] = at;
        at += (is->by_rank ? kinds[kind].extent : 1) * count;
        at += dice_below(&dice, 3) * (is->by_rank ? (int)sizeof(int) : 1);
        end = at > end ? at : end;
        own->empty = own->empty && count == 0;
    }
    free(order);
    size_t unit = (size_t)(is->by_rank ? 1 : kinds[common].extent);
    own->margin = MARGIN + unit * (size_t)shift(own, is->ranks, end, &dice);
    own->bytes = unit * (size_t)end + 2 * MARGIN;
}

void layout_move_to_bottom(struct layout *own, const struct oracle_case *is, const void *base)
{
    MPI_Aint address;
    MPI_Get_address(base, &address);
    /* Whole addresses are displacements only where those are MPI_Aint. */
    own->moved = !is->wide || !is->by_rank || MPI_VERSION < 4;
    for (int i = 0; i < is->ranks; i++) {
        if (!own->moved)
            own->wide_displacements[i] += address;
        else if (i > 0 && !is->by_rank)
            own->types[i] = own->types[0];
        else if (own->types[i] != MPI_DATATYPE_NULL)
            own->types[i] = type_at(own->types[i], address);
    }
}

void layout_free(struct layout *own, const struct oracle_case *is)
{
    for (int i = 0; own->moved && i < (is->by_rank ? is->ranks : 1); i++)
        if (own->types[i] != MPI_DATATYPE_NULL)
            MPI_Type_free(&own->types[i]);
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
