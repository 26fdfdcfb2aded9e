/* Finds which files are on the mount, and makes the requests to the lab's MDS about them. */
#include "lab.h"

#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>

static char mount_path[PATH_MAX];
static size_t mount_length;
static char socket_path[sizeof(((struct sockaddr_un *)0)->sun_path)];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void read_environment(void)
{
    const char *mount = getenv("VAS_LAB_MOUNT"), *mds = getenv("VAS_LAB_MDS");

    if (mount && realpath(mount, mount_path))
        mount_length = strlen(mount_path);
    if (mds)
        snprintf(socket_path, sizeof(socket_path), "%s", mds);
}

const char *link_of(int fd, char *buffer)
{
    sprintf(buffer, "/proc/self/fd/%d", fd);
    return buffer;
}

bool on_lustre(int fd)
{
    char name[NAME_OF_FD], path[PATH_MAX];
    ssize_t length;

    pthread_once(&once, read_environment);
    if (mount_length == 0 || fd < 0)
        return false;
    length = readlink(link_of(fd, name), path, sizeof(path) - 1);
    if (length < (ssize_t)mount_length || memcmp(path, mount_path, mount_length))
        return false;
    return length == (ssize_t)mount_length || path[mount_length] == '/';
}

int name_on_lustre(int dir, const char *path, int nofollow)
{
    int saved = errno, fd = NEXT(openat)(dir, path, O_PATH | O_CLOEXEC | nofollow);

    if (fd >= 0 && !on_lustre(fd)) {
        close(fd);
        fd = -1;
    }
    errno = saved;
    return fd;
}

static bool send_all(int stream, const char *text, size_t length, int fd)
{
    char control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {(void *)text, length};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    struct cmsghdr *header;

    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    header = CMSG_FIRSTHDR(&message);
    *header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)),
                               .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(header), &fd, sizeof(fd));
    while (part.iov_len > 0) {
        ssize_t sent = sendmsg(stream, &message, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return false;
        part.iov_base = (char *)part.iov_base + sent;
        part.iov_len -= (size_t)sent;
        message.msg_control = NULL;
        message.msg_controllen = 0;
    }
    return true;
}

static int receive_errno(int stream)
{
    char answer[512] = "";
    size_t have = 0;
    int error;

    while (have + 1 < sizeof(answer) && !memchr(answer, '\n', have)) {
        ssize_t got = recv(stream, answer + have, sizeof(answer) - 1 - have, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return EIO;
        have += (size_t)got;
    }
    return sscanf(answer, "{\"errno\": %d", &error) == 1 ? error : EIO;
}

int ask(int fd, const char *operation, const void *value, size_t size)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char *request = malloc(2 * size + 64);
    int stream, error = EIO;
    size_t length;

    if (!request)
        return ENOMEM;
    memcpy(address.sun_path, socket_path, sizeof(socket_path));
    length = (size_t)sprintf(request, "{\"op\": \"%s\", \"value\": \"", operation);
    for (size_t i = 0; i < size; i++)
        length += (size_t)sprintf(request + length, "%02x", ((const uint8_t *)value)[i]);
    length += (size_t)sprintf(request + length, "\"}\n");
    stream = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (stream >= 0) {
        if (connect(stream, (struct sockaddr *)&address, sizeof(address)) == 0 &&
            send_all(stream, request, length, fd))
            error = receive_errno(stream);
        close(stream);
    }
    free(request);
    return error;
}
