/* What the three sources of the library share. Nothing here is seen by the program. */
#ifndef VAS_LAB_H
#define VAS_LAB_H

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define STORED "user.lustre.lov"
#define NAME_OF_FD 32

/* The libc's own function of this name. */
#define NEXT(name)                                                          \
    ({                                                                      \
        static __typeof__(name) *real;                                      \
        if (!real)                                                          \
            real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name);             \
        real;                                                               \
    })

#pragma GCC visibility push(hidden)

/* Writes the path of a descriptor into `buffer` (NAME_OF_FD) and returns it. */
const char *link_of(int fd, char *buffer);
bool on_lustre(int fd);
/* A descriptor that only names the file, if it is on the mount; else -1. */
int name_on_lustre(int dir, const char *path, int nofollow);
/* Has the MDS do `operation` on the file; returns 0 or an errno. No answer is EIO. */
int ask(int fd, const char *operation, const void *value, size_t size);
/* getxattr and setxattr of lustre.lov on a file of the mount. */
ssize_t read_layout(int fd, void *value, size_t size);
int write_layout(int fd, const void *value, size_t size);

#pragma GCC visibility pop

#endif
