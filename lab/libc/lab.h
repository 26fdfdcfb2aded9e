/* Shared by the sources of the library. Nothing here is seen by the program. */
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

#define MAGIC_PLAIN 0x0BD10BD0u
#define MAGIC_POOL 0x0BD30BD0u
#define MAGIC_COMPOSITE 0x0BD60BD0u
#define COMPONENT_STALE 0x1u
#define COMPONENT_INIT 0x10u
#define PATTERN_MDT 0x100u

static inline uint16_t get16(const uint8_t *at) { return (uint16_t)(at[0] | at[1] << 8); }
static inline uint32_t get32(const uint8_t *at) { return get16(at) | (uint32_t)get16(at + 2) << 16; }
static inline uint64_t get64(const uint8_t *at) { return get32(at) | (uint64_t)get32(at + 4) << 32; }

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
bool is_composite(const uint8_t *value, ssize_t size);

/* The requests of a client to the OSTs, once for each object; the order is that of board.py. */
enum request { GLIMPSE, SYNC, DESTROY, PUNCH, READ, WRITE };
#define ALL_KINDS 6
#define REQUEST_KINDS 4 /* those that are summed up over all OSTs too */
/* Tells whether an OST is away or requests are counted; else nothing below needs to be called. */
bool osts_are_watched(void);
/* Counts an open of a file of the mount: a request to the MDT. */
void count_open(int fd);
/* Counts a lock that a program got on a file or directory of the mount. */
void count_lock(int fd);
/* Counts a request to each object of a file of the mount; returns the errno of an OST that is away. */
int ask_objects(int fd, enum request kind);
/* The errno of an OST that is away and holds bytes of that part of a file of the mount; else 0. */
int ask_range(int fd, uint64_t start, size_t length, bool writing);

/* Tells whether the bytes of files cross links; sets the number of the ranges that are known. */
bool bytes_cross_links(uint32_t *epoch);
/* Returns `moved` when these bytes would be here, or there, on a machine of its own: -1 and an errno
 * if they did not cross. A negative `start`: they end at the descriptor's position. */
ssize_t crossed(ssize_t moved, int fd, off64_t start, bool writing);
/* Returns when all bytes that were written are at their OSTs: 0, or an errno. */
int all_crossed(int fd);
/* Tells the node's links that bytes were written: 0, or an errno. */
int tell_links(int fd, uint64_t start, size_t length);
/* Takes bytes that were written, to be told now or with those that follow: 0, or an errno. */
int written(int fd, const struct stat *info, uint64_t start, size_t length);
/* Tells what was written by a descriptor, or to a file, and not told yet: 0, or an errno. */
int tell_written(int fd);
int tell_written_to(const struct stat *info);

#pragma GCC visibility pop

#endif
