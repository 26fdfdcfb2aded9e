/* The bytes of a layout, as a client reads and sets them. */
#include "lab.h"

#define FLR_STATE 3u
#define FLR_READ_ONLY 1u

bool is_composite(const uint8_t *value, ssize_t size)
{
    return size >= 32 && get32(value) == MAGIC_COMPOSITE && size >= 32 + 48 * get16(value + 14);
}

/* Has the file grown past what its components hold objects for, or its mirrors' state? */
static bool is_outgrown(const uint8_t *value, ssize_t size, uint64_t length)
{
    if (!is_composite(value, size) || length == 0)
        return false;
    if ((get16(value + 12) & FLR_STATE) == FLR_READ_ONLY)
        return true;
    for (const uint8_t *entry = value + 32; entry < value + 32 + 48 * get16(value + 14); entry += 48)
        if (!(get32(entry + 4) & COMPONENT_INIT) && get64(entry + 8) < length)
            return true;
    return false;
}

/* A client is shown no start index and no layout generation: both read 0xFFFF. */
static void mask_start(uint8_t *value, ssize_t size)
{
    uint32_t magic = size >= 32 ? get32(value) : 0;

    if (magic == MAGIC_PLAIN || magic == MAGIC_POOL)
        memset(value + 30, 0xff, 2);
    if (!is_composite(value, size))
        return;
    for (const uint8_t *entry = value + 32; entry < value + 32 + 48 * get16(value + 14); entry += 48)
        if ((uint64_t)get32(entry + 24) + get32(entry + 28) <= (uint64_t)size)
            mask_start(value + get32(entry + 24), get32(entry + 28));
}

ssize_t read_layout(int fd, void *value, size_t size)
{
    uint8_t stored[XATTR_SIZE_MAX];
    char name[NAME_OF_FD];
    struct stat info;
    ssize_t length = getxattr(link_of(fd, name), STORED, stored, sizeof(stored));
    const char *operation = NULL;

    if (NEXT(fstat)(fd, &info) < 0)
        return -1;
    /* Bytes without a layout: made by a program this library was not loaded into. */
    if (length < 0 && errno == ENODATA && S_ISREG(info.st_mode) && info.st_size > 0)
        operation = "create";
    if (length > 0 && S_ISREG(info.st_mode) && is_outgrown(stored, length, (uint64_t)info.st_size))
        operation = "refresh";
    if (operation) {
        int error = ask(fd, operation, NULL, 0);
        if (error) {
            errno = error;
            return -1;
        }
        length = getxattr(link_of(fd, name), STORED, stored, sizeof(stored));
    }
    if (length < 0 || size == 0)
        return length;
    if ((size_t)length > size) {
        errno = ERANGE;
        return -1;
    }
    mask_start(stored, length);
    memcpy(value, stored, (size_t)length);
    return length;
}

int write_layout(int fd, const void *value, size_t size)
{
    char name[NAME_OF_FD];
    int error;

    if (faccessat(AT_FDCWD, link_of(fd, name), W_OK, AT_EACCESS) < 0)
        return -1;
    error = size > XATTR_SIZE_MAX ? E2BIG : ask(fd, "set", value, size);
    /* A file that has its layout: Lustre lets tar and cp -a think it was restored. */
    if (error == EEXIST)
        error = 0;
    if (error)
        errno = error;
    return error ? -1 : 0;
}
