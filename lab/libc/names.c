/*
 * Renames as a Lustre client answers them: the kernel looks at both names, and llite refuses every
 * flag of renameat2 then (EINVAL, llite/namei.c of 2.12 to 2.17).
 */
#include "lab.h"

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE (1 << 0)
#define RENAME_EXCHANGE (1 << 1)
int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned int flags);
#endif

static bool is_taken(int dir, const char *path)
{
    return faccessat(dir, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned int flags)
{
    int fd = flags ? name_on_lustre(from_dir, from, O_NOFOLLOW) : -1;

    if (fd < 0)
        return NEXT(renameat2)(from_dir, from, to_dir, to, flags);
    close(fd);
    if ((flags & RENAME_NOREPLACE) && is_taken(to_dir, to))
        errno = EEXIST;
    else if ((flags & RENAME_EXCHANGE) && !is_taken(to_dir, to))
        errno = ENOENT;
    else
        errno = EINVAL;
    return -1;
}
