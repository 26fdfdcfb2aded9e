/*
 * Asks the links of this node (vas_lab/links) whenever bytes of a file were read or written: they
 * answer when the bytes have crossed the lab's network. One connection per request, as to the MDS.
 * What a thread learnt to be in the node's cache it does not ask for again; small writes are
 * gathered (unsent.c).
 */
#include "lab.h"

#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

/* vas_lab/links/request.py has the same. */
#define ADDRESS "vas-lab-links"
enum kind { LINK_READ, LINK_WRITE, LINK_SYNC };
struct link_request {
    uint32_t kind, unused;
    uint64_t start, length;
};
struct link_answer {
    int32_t error;
    uint32_t unused;
    uint64_t start, end;
};

/* A merge reads some files in turn. */
#define KNOWN 16
static __thread struct known {
    uint32_t epoch;
    dev_t device;
    ino_t inode;
    struct link_answer range;
} known_ranges[KNOWN];

static int connect_to_links(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t size = offsetof(struct sockaddr_un, sun_path) + sizeof(ADDRESS);
    int stream = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    /* A name behind a zero is of this network, not of the file system. */
    memcpy(address.sun_path + 1, ADDRESS, sizeof(ADDRESS) - 1);
    if (stream >= 0 && connect(stream, (struct sockaddr *)&address, size) < 0) {
        close(stream);
        stream = -1;
    }
    return stream;
}

static struct link_answer ask_links(int fd, enum kind kind, uint64_t start, size_t length)
{
    struct link_request request = {.kind = kind, .start = start, .length = length};
    struct link_answer answer = {.error = EIO};
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control = {0};
    struct iovec part = {&request, sizeof(request)};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes,
                             .msg_controllen = sizeof(control.bytes)};
    int stream = connect_to_links();
    ssize_t got;

    *CMSG_FIRSTHDR(&message) = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), &fd, sizeof(fd));
    if (stream < 0)
        return answer;
    if (sendmsg(stream, &message, MSG_NOSIGNAL) == (ssize_t)sizeof(request)) {
        do
            got = recv(stream, &answer, sizeof(answer), 0);
        while (got < 0 && errno == EINTR);
        if (got != (ssize_t)sizeof(answer))
            answer.error = EIO;
    }
    close(stream);
    return answer;
}

int tell_links(int fd, uint64_t start, size_t length)
{
    return ask_links(fd, LINK_WRITE, start, length).error;
}

static struct known *known_of(const struct stat *info)
{
    return &known_ranges[info->st_ino % KNOWN];
}

static bool is_known(const struct stat *info, uint32_t epoch, uint64_t start, size_t length)
{
    const struct known *it = known_of(info);

    return it->epoch == epoch && it->device == info->st_dev && it->inode == info->st_ino &&
           it->range.start <= start && start + length <= it->range.end;
}

/* Returns when bytes that were read are in the node's cache: 0, or an errno. */
static int read_over_links(int fd, const struct stat *info, uint32_t epoch, uint64_t start,
                           size_t length)
{
    int error = tell_written_to(info);
    struct link_answer answer;

    if (error)
        return error;
    answer = ask_links(fd, LINK_READ, start, length);
    if (!answer.error)
        *known_of(info) = (struct known){epoch, info->st_dev, info->st_ino, answer};
    return answer.error;
}

ssize_t crossed(ssize_t moved, int fd, off64_t start, bool writing)
{
    int saved = errno, error;
    struct stat info;
    uint32_t epoch;

    if (!bytes_cross_links(&epoch) || NEXT(fstat)(fd, &info) < 0 || !S_ISREG(info.st_mode))
        goto here;
    if (start < 0)
        start = lseek(fd, 0, SEEK_CUR) - moved;
    if (start < 0 || (!writing && is_known(&info, epoch, (uint64_t)start, (size_t)moved)) ||
        !on_lustre(fd))
        goto here;
    error = writing ? written(fd, &info, (uint64_t)start, (size_t)moved)
                    : read_over_links(fd, &info, epoch, (uint64_t)start, (size_t)moved);
    if (error) {
        errno = error;
        return -1;
    }
here:
    errno = saved;
    return moved;
}

int all_crossed(int fd)
{
    uint32_t epoch;
    int error;

    if (!bytes_cross_links(&epoch) || !on_lustre(fd))
        return 0;
    error = tell_written(fd);
    return error ?: ask_links(fd, LINK_SYNC, 0, 0).error;
}
