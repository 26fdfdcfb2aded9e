/* Reads the file of figures. It has lines like `overhead_ns = 700`; others that begin with #
 * are skipped. */
#include "network.h"

#include <fcntl.h>
#include <locale.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef OPEN_MPI
#define MPI_NAME "openmpi"
#else
#define MPI_NAME "mpich"
#endif

enum { PATH_BYTES = 4096, NAME_BYTES = 32, FIGURES = 5, MOST_BYTES = 64 << 10 };

static const char BLANKS[] = " \t\r\n";

static const struct {
    const char *name;
    double unit;
    size_t at;
} FIGURE[FIGURES] = {
    {"overhead_ns", 1e-9, offsetof(struct a2av_network, overhead)},
    {"latency_ns", 1e-9, offsetof(struct a2av_network, latency)},
    {"byte_ps", 1e-12, offsetof(struct a2av_network, per_byte)},
    {"copy_byte_ps", 1e-12, offsetof(struct a2av_network, copy)},
    {"local_ns", 1e-9, offsetof(struct a2av_network, local)},
};

static double *figure(struct a2av_network *network, int i)
{
    return (double *)((char *)network + FIGURE[i].at);
}

/* Sets the path of the file, and `asked` if the user named it. Returns false where there is no
 * path. */
static bool find_path(char path[PATH_BYTES], bool *asked)
{
    const char *named = getenv("VAS_A2AV_NETWORK"), *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    int written = -1;
    *asked = named && *named;
    if (*asked)
        written = snprintf(path, PATH_BYTES, "%s", named);
    else if (cache && *cache)
        written = snprintf(path, PATH_BYTES, "%s/vas/a2av-%s.conf", cache, MPI_NAME);
    else if (home && *home)
        written = snprintf(path, PATH_BYTES, "%s/.cache/vas/a2av-%s.conf", home, MPI_NAME);
    return written > 0 && written < PATH_BYTES;
}

/* Reads a line, and tells whether it is a comment or a figure; `found` gets a bit for the
 * figure. Programs may have a locale in which a number has a comma: `plain` has none. */
static bool read_line(const char *line, locale_t plain, struct a2av_network *network,
                      unsigned *found)
{
    char name[NAME_BYTES], *end;
    int at = 0;
    if (line[0] == '#' || line[strspn(line, BLANKS)] == '\0')
        return true;
    if (sscanf(line, " %31[a-z_] = %n", name, &at) != 1 || at == 0)
        return false;
    double value = strtod_l(line + at, &end, plain);
    if (end == line + at || end[strspn(end, BLANKS)] != '\0')
        return false;
    for (int i = 0; i < FIGURES; i++)
        if (strcmp(name, FIGURE[i].name) == 0 && value >= 0 && value <= 1e12) {
            *figure(network, i) = value * FIGURE[i].unit;
            *found |= 1U << i;
            return true;
        }
    return false;
}

/* Reads all lines. Returns the number of the first that is neither a comment nor a figure, or 0. */
static int read_lines(FILE *file, locale_t plain, struct a2av_network *network, unsigned *found)
{
    char *line = NULL;
    size_t room = 0;
    int number = 0, wrong = 0;
    while (!wrong && ++number && getline(&line, &room, file) >= 0)
        wrong = read_line(line, plain, network, found) ? 0 : number;
    free(line);
    return wrong;
}

static bool read_file(FILE *file, const char *path, struct a2av_network *network)
{
    unsigned found = 0;
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (!plain)
        return false;
    int wrong = read_lines(file, plain, network, &found);
    freelocale(plain);
    if (wrong)
        fprintf(stderr, "vas-a2av: %s: line %d is not a figure: run vas a2av tune again\n", path,
                wrong);
    for (int i = 0; i < FIGURES && !wrong; i++)
        if (!(found & 1U << i)) {
            fprintf(stderr, "vas-a2av: %s: %s is missing: run vas a2av tune again\n", path,
                    FIGURE[i].name);
            return false;
        }
    return !wrong;
}

/* Opens a regular file of at most MOST_BYTES, and waits for no writer of a FIFO. Returns NULL
 * for anything else. */
static FILE *open_file(const char *path)
{
    struct stat status;
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (descriptor < 0)
        return NULL;
    FILE *file = NULL;
    if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= MOST_BYTES)
        file = fdopen(descriptor, "r");
    if (!file)
        close(descriptor);
    return file;
}

static struct a2av_network read_network(void)
{
    struct a2av_network network = a2av_assumed_network();
    char path[PATH_BYTES];
    bool asked = false;
    FILE *file = find_path(path, &asked) ? open_file(path) : NULL;
    if (!file) {
        if (asked)
            fprintf(stderr, "vas-a2av: VAS_A2AV_NETWORK=%s cannot be read: run vas a2av tune\n",
                    path);
        return network;
    }
    if (!read_file(file, path, &network))
        network = a2av_assumed_network();
    fclose(file);
    return network;
}

int vas_network_share(struct a2av_network *network, MPI_Comm comm)
{
    int rank;
    double figures[FIGURES];
    int error = PMPI_Comm_rank(comm, &rank);
    if (error)
        return error;
    *network = rank == 0 ? read_network() : a2av_assumed_network();
    for (int i = 0; i < FIGURES; i++)
        figures[i] = *figure(network, i);
    error = PMPI_Bcast(figures, FIGURES, MPI_DOUBLE, 0, comm);
    for (int i = 0; i < FIGURES; i++)
        *figure(network, i) = figures[i];
    return error;
}
