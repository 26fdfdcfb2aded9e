#include "settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

static const char *const NAMES[] = {
    "VAS_A2AV", "VAS_A2AV_BATCH", "VAS_A2AV_DIRECT", "VAS_A2AV_EAGER", "VAS_A2AV_LEADERS",
    "VAS_A2AV_MIN_RANKS", "VAS_A2AV_NETWORK", "VAS_A2AV_NODE_RANKS", "VAS_A2AV_PIECE",
    "VAS_A2AV_RADIX", "VAS_A2AV_REPORT",
#ifdef VAS_A2AV_SIMULATED
    "VAS_A2AV_BLOCK_PS", "VAS_A2AV_COPY_BYTE_PS", /* transport.c */
#endif
};

static bool is_setting(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        if (strlen(NAMES[i]) == length && strncmp(NAMES[i], name, length) == 0)
            return true;
    return false;
}

/* A variable with a misspelled name would do nothing, silently: it is named on stderr, and switches
 * the library off. */
static void refuse_unknown_names(struct vas_settings *settings)
{
    for (char **each = environ; each && *each; each++) {
        size_t length = strcspn(*each, "=");
        if (strncmp(*each, NAMES[0], strlen(NAMES[0])) != 0 || is_setting(*each, length))
            continue;
        fprintf(stderr, "vas-a2av: %.*s: no setting has this name; MPI's own is used\n",
                (int)length, *each);
        settings->off = true;
    }
}

/* Reads a number. Returns false if the variable is not set, or its value is not a number within
 * the bounds: that is named on stderr, and switches the library off. */
static bool read_number(struct vas_settings *settings, const char *name, long long least,
                        long long most, long long *value)
{
    const char *text = getenv(name);
    char *end;
    if (!text || !*text)
        return false;
    errno = 0;
    *value = strtoll(text, &end, 10);
    if (errno == 0 && *end == '\0' && *value >= least && *value <= most)
        return true;
    fprintf(stderr, "vas-a2av: %s=%s: not a number from %lld to %lld; MPI's own is used\n", name,
            text, least, most);
    settings->off = true;
    return false;
}

static void read_algorithm(struct vas_settings *settings)
{
    const char *name = getenv("VAS_A2AV");
    if (!name || !*name || strcmp(name, "auto") == 0)
        return;
    settings->chooses = false;
    int found = a2av_by_name(name);
    if (found >= 0) {
        settings->core.algorithm = (enum a2av_algorithm)found;
        return;
    }
    settings->off = true;
    if (strcmp(name, "off") == 0)
        return;
    fprintf(stderr, "vas-a2av: VAS_A2AV=%s: must be auto, off", name);
    for (int i = 0; i < A2AV_ALGORITHMS; i++)
        fprintf(stderr, ", %s", a2av_name((enum a2av_algorithm)i));
    fprintf(stderr, "; MPI's own is used\n");
}

static void read_report(struct vas_settings *settings)
{
    const char *text = getenv("VAS_A2AV_REPORT");
    if (!text || !*text || strcmp(text, "0") == 0)
        return;
    settings->report = strcmp(text, "json") == 0 ? VAS_REPORT_JSON : VAS_REPORT_LINES;
    if (settings->report == VAS_REPORT_JSON || strcmp(text, "1") == 0)
        return;
    fprintf(stderr, "vas-a2av: VAS_A2AV_REPORT=%s: must be 0, 1 or json; MPI's own is used\n",
            text);
    settings->off = true;
}

struct vas_settings vas_settings_from_environment(void)
{
    enum { EAGER_LEAST = 64, HUNDRED_MEGABYTES = 100 * 1000 * 1000 };
    struct vas_settings settings = {
        .core = a2av_default_settings(), .chooses = true, .min_ranks = 8};
    long long value;
    read_algorithm(&settings);
    settings.core.batch = settings.core.batch < A2AV_BATCH_MAX ? settings.core.batch
                                                               : A2AV_BATCH_MAX;
    if (read_number(&settings, "VAS_A2AV_RADIX", 2, 1 << 20, &value))
        settings.core.radix = (int)value;
    if (read_number(&settings, "VAS_A2AV_LEADERS", 1, 1024, &value))
        settings.core.leaders = (int)value;
    if (read_number(&settings, "VAS_A2AV_NODE_RANKS", 0, 1 << 20, &value))
        settings.node_ranks = (int)value;
    if (read_number(&settings, "VAS_A2AV_BATCH", 1, A2AV_BATCH_MAX, &value))
        settings.core.batch = (int)value;
    if (read_number(&settings, "VAS_A2AV_DIRECT", 0, HUNDRED_MEGABYTES, &value))
        settings.core.direct_bytes = (size_t)value;
    if (read_number(&settings, "VAS_A2AV_EAGER", EAGER_LEAST, HUNDRED_MEGABYTES, &value))
        settings.core.eager_bytes = (size_t)value;
    long long piece_least = (long long)settings.core.eager_bytes;
    if (read_number(&settings, "VAS_A2AV_PIECE", piece_least, 1 << 30, &value))
        settings.core.piece_bytes = (size_t)value;
    if (read_number(&settings, "VAS_A2AV_MIN_RANKS", 1, 1 << 30, &value))
        settings.min_ranks = (int)value;
    read_report(&settings);
    refuse_unknown_names(&settings);
    return settings;
}
