// Two service threads, each of which takes blocks from a client and writes them to a file of its own.
//
//   upload DIRECTORY SECONDS CHECKSUMS [CPU,CPU]
//
// As a DataNode does: bytes come by TCP (loopback), checksums are computed over each 512 of them, and
// they are written through the page cache, a block of 64 MiB over and over. Each MiB is on its way to
// the disk before the next one, and there before it is written again. The clients' threads are not
// pinned. Prints the MiB that both wrote per second: its last line.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { SERVICES = 2, CHUNK = 1 << 20, PER_CHECKSUM = 512, BLOCK_CHUNKS = 64 };

static const double warm_up_seconds = 0.5;

struct service {
    int cpu;  // or -1
    int socket, file;
    char path[4096];
    uint32_t checksums[CHUNK / PER_CHECKSUM];
    pthread_t thread, client;
};

static struct service services[SERVICES];
static uint32_t table[256];
static int checksums;  // times that one is computed, as the work for each byte
static atomic_ulong written;

static void fail(const char *what) {
    perror(what);
    fflush(stderr);
    for (int n = 0; n < SERVICES; n++)
        if (services[n].path[0]) unlink(services[n].path);
    _exit(1);
}

static void make_table(void) {
    for (uint32_t n = 0; n < 256; n++) {
        uint32_t sum = n;
        for (int bit = 0; bit < 8; bit++) sum = sum & 1 ? sum >> 1 ^ 0x82F63B78u : sum >> 1;
        table[n] = sum;
    }
}

static uint32_t crc32c(const unsigned char *bytes, size_t count) {
    uint32_t sum = ~0u;
    while (count--) sum = table[(sum ^ *bytes++) & 255] ^ sum >> 8;
    return ~sum;
}

static void write_chunk(struct service *self, const unsigned char *buffer, off_t offset) {
    for (size_t put = 0; put < CHUNK;) {
        ssize_t more = pwrite(self->file, buffer + put, CHUNK - put, offset + (off_t)put);
        if (more < 0 && errno == EINTR) continue;
        if (more <= 0) fail("write");
        put += (size_t)more;
    }
    if (sync_file_range(self->file, offset, CHUNK,
                        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE) != 0)
        fail("sync_file_range");
}

static void *serve(void *argument) {
    struct service *self = argument;
    unsigned char *buffer = malloc(CHUNK);
    if (!buffer) fail("malloc");
    if (self->cpu >= 0) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(self->cpu, &one);
        if (sched_setaffinity(0, sizeof one, &one) != 0) fail("sched_setaffinity");
    }
    for (unsigned long turn = 0;; turn++) {
        for (size_t got = 0; got < CHUNK;) {
            ssize_t more = read(self->socket, buffer + got, CHUNK - got);
            if (more < 0 && errno == EINTR) continue;
            if (more <= 0) fail("read");
            got += (size_t)more;
        }
        for (int time = 0; time < checksums; time++)
            for (size_t at = 0; at < CHUNK; at += PER_CHECKSUM)
                self->checksums[at / PER_CHECKSUM] ^= crc32c(buffer + at, PER_CHECKSUM);
        write_chunk(self, buffer, (off_t)(turn % BLOCK_CHUNKS) * CHUNK);
        atomic_fetch_add(&written, 1);
    }
    return NULL;
}

static void *send_bytes(void *argument) {
    int to = *(int *)argument;
    char *bytes = malloc(CHUNK);
    if (!bytes) fail("malloc");
    memset(bytes, 'x', CHUNK);
    for (;;)
        if (write(to, bytes, CHUNK) < 0 && errno != EINTR) fail("send");
    return NULL;
}

static void start(struct service *self, const char *directory, int number) {
    static int clients[SERVICES];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) != 0 ||
        listen(listener, 1) != 0 || getsockname(listener, (struct sockaddr *)&address, &size) != 0)
        fail("listen");
    clients[number] = socket(AF_INET, SOCK_STREAM, 0);
    if (clients[number] < 0 || connect(clients[number], (struct sockaddr *)&address, size) != 0)
        fail("connect");
    self->socket = accept(listener, NULL, NULL);
    if (self->socket < 0) fail("accept");
    close(listener);
    snprintf(self->path, sizeof self->path, "%s/block-%d", directory, number);
    self->file = open(self->path, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (self->file < 0) fail(self->path);
    // The blocks are there before: a run measures writes, not the file system's search for room.
    errno = posix_fallocate(self->file, 0, (off_t)BLOCK_CHUNKS * CHUNK);
    if (errno) fail("posix_fallocate");
    errno = pthread_create(&self->thread, NULL, serve, self);
    if (!errno) errno = pthread_create(&self->client, NULL, send_bytes, &clients[number]);
    if (errno) fail("pthread_create");
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void rest(double seconds) {
    struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&time, &time) != 0) continue;
}

int main(int count, char **words) {
    if (count < 4) {
        fprintf(stderr, "usage: upload DIRECTORY SECONDS CHECKSUMS [CPU,CPU]\n");
        return 2;
    }
    double seconds = atof(words[2]);
    checksums = atoi(words[3]);
    char *cpus = count > 4 ? words[4] : NULL;
    make_table();
    for (int n = 0; n < SERVICES; n++) {
        char *cpu = cpus ? strtok(n == 0 ? cpus : NULL, ",") : NULL;
        services[n].cpu = cpu ? atoi(cpu) : -1;
    }
    for (int n = 0; n < SERVICES; n++) start(&services[n], words[1], n);
    rest(warm_up_seconds);
    double started = now();
    unsigned long before = atomic_load(&written);
    rest(seconds);
    printf("%.2f\n", (double)(atomic_load(&written) - before) / (now() - started));
    fflush(stdout);
    for (int n = 0; n < SERVICES; n++) unlink(services[n].path);
    _exit(0);
}
