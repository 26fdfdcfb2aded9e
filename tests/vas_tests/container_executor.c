/* In place of Hadoop's container-executor, whose sources no registry has: `--checksetup` makes the checks that Hadoop's
 * makes before it does anything else, and needs the rights that Hadoop's needs. It starts no container. */
#include <errno.h>
#include <grp.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BAD_EXECUTABLE = 22, BAD_CONFIGURATION = 24 };

/* The directory is a setting of the build of Hadoop's, relative to the program's own. */
static const char CONFIGURATION[] = "../etc/hadoop/container-executor.cfg";
static const char GROUP[] = "yarn.nodemanager.linux-container-executor.group=";

static void fail(int status, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputc('\n', stderr);
    exit(status);
}

/* Root alone may change the configuration, and each directory above it. */
static void check_configuration(char *path)
{
    struct stat found;

    for (; strcmp(path, "/") != 0; path = dirname(path)) {
        if (stat(path, &found) != 0)
            fail(BAD_CONFIGURATION, "%s: %s", path, strerror(errno));
        if (found.st_uid != 0 || (found.st_mode & (S_IWGRP | S_IWOTH)) != 0)
            fail(BAD_CONFIGURATION, "%s may be changed by others than root", path);
    }
}

static gid_t configured_group(const char *path)
{
    char line[4096];
    FILE *file = fopen(path, "r");

    if (file == NULL)
        fail(BAD_CONFIGURATION, "%s: %s", path, strerror(errno));
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, GROUP, sizeof GROUP - 1) == 0) {
            struct group *group = getgrnam(line + sizeof GROUP - 1);
            if (group == NULL)
                fail(BAD_CONFIGURATION, "no group %s", line + sizeof GROUP - 1);
            fclose(file);
            return group->gr_gid;
        }
    }
    fail(BAD_CONFIGURATION, "%s names no group", path);
    return 0;
}

static void check_executable(const char *path, gid_t group)
{
    struct stat found;

    if (stat(path, &found) != 0)
        fail(BAD_EXECUTABLE, "%s: %s", path, strerror(errno));
    if (found.st_uid != 0)
        fail(BAD_EXECUTABLE, "%s is not root's", path);
    if (found.st_gid != group)
        fail(BAD_EXECUTABLE, "%s is not of the group that its configuration names", path);
    if ((found.st_mode & S_IRWXO) != 0)
        fail(BAD_EXECUTABLE, "%s may be used by everybody", path);
    if ((found.st_mode & S_ISUID) == 0)
        fail(BAD_EXECUTABLE, "%s is not setuid", path);
}

int main(int count, char **words)
{
    char own[PATH_MAX], relative[2 * PATH_MAX], copy[PATH_MAX], *configuration;
    gid_t group;

    if (realpath("/proc/self/exe", own) == NULL)
        fail(BAD_EXECUTABLE, "/proc/self/exe: %s", strerror(errno));
    strcpy(copy, own);
    snprintf(relative, sizeof relative, "%s/%s", dirname(copy), CONFIGURATION);
    configuration = realpath(relative, NULL);
    if (configuration == NULL)
        fail(BAD_CONFIGURATION, "%s: %s", relative, strerror(errno));
    group = configured_group(configuration);
    check_configuration(configuration);
    check_executable(own, group);
    if (geteuid() != 0 || setuid(0) != 0)
        fail(BAD_EXECUTABLE, "does not become root: NoNewPrivileges, or a mount with nosuid");
    if (count != 2 || strcmp(words[1], "--checksetup") != 0)
        fail(1, "starts no container");
    return 0;
}
