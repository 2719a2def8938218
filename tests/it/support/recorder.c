// Records what a process does to files whose path begins with RECORDER_FILES: what it writes, truncates, syncs
// and removes, and what it prints on standard output, all in one order, in the file RECORDER_TRACE.
//
// A record is a letter, a length and as many bytes of name, an offset, a length and as many bytes of data.
// Numbers have 8 bytes in the machine's byte order. Built by tests/it/power_loss.rs, loaded with LD_PRELOAD.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int trace = -1;
static const char *files;
static char *names[4096]; // by descriptor; NULL for files that are not recorded

static void put(const void *bytes, size_t length) {
    const char *at = bytes;
    while (length > 0) {
        ssize_t done = syscall(SYS_write, trace, at, length);
        if (done <= 0) abort();
        at += done;
        length -= done;
    }
}

static void number(uint64_t n) { put(&n, sizeof n); }

static void record(char kind, const char *name, uint64_t offset, const void *data, size_t length) {
    put(&kind, 1);
    number(strlen(name));
    put(name, strlen(name));
    number(offset);
    number(length);
    put(data, length);
}

__attribute__((constructor)) static void begin(void) {
    files = getenv("RECORDER_FILES");
    const char *path = getenv("RECORDER_TRACE");
    if (files && path) trace = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
}

// Whether a path is recorded: a file, or the folder they are in. Locks and shared memory die with the machine.
static int is_ours(const char *path) {
    size_t length = strlen(path);
    if (trace < 0) return 0;
    if (length > 4 && strcmp(path + length - 4, "-shm") == 0) return 0;
    if (length > 6 && strcmp(path + length - 6, ".lease") == 0) return 0;
    return strncmp(path, files, strlen(files)) == 0
        || (strncmp(path, files, length) == 0 && (files[length] == '/' || files[length] == 0));
}

static const char *name_of(int fd) {
    return fd >= 0 && fd < 4096 && trace >= 0 ? names[fd] : NULL;
}

static int opened(const char *path, int flags, mode_t mode) {
    pthread_mutex_lock(&lock);
    struct stat before;
    int exists = stat(path, &before) == 0;
    int fd = syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    if (fd >= 0 && fd < 4096 && is_ours(path)) {
        free(names[fd]);
        names[fd] = strdup(path);
        if (!exists) record('C', path, 0, "", 0);
        else if (flags & O_TRUNC) record('T', path, 0, "", 0);
    }
    pthread_mutex_unlock(&lock);
    return fd;
}

#define OPEN(function)                                                 \
    int function(const char *path, int flags, ...) {                   \
        va_list rest;                                                  \
        va_start(rest, flags);                                         \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
        va_end(rest);                                                  \
        return opened(path, flags, mode);                              \
    }
OPEN(open)
OPEN(open64)

int close(int fd) {
    pthread_mutex_lock(&lock);
    if (fd >= 0 && fd < 4096) {
        free(names[fd]);
        names[fd] = NULL;
    }
    int result = syscall(SYS_close, fd);
    pthread_mutex_unlock(&lock);
    return result;
}

static ssize_t written_at(int fd, const void *data, size_t length, off_t offset, int moves) {
    pthread_mutex_lock(&lock);
    if (moves && name_of(fd)) offset = lseek(fd, 0, SEEK_CUR);
    // Output is recorded before it is printed, and a write after it was made, so no reader can see an
    // acknowledgement that comes before its write in the trace.
    if (fd == 1 && trace >= 0) record('A', "", 0, data, length);
    ssize_t done = moves ? syscall(SYS_write, fd, data, length) : syscall(SYS_pwrite64, fd, data, length, offset);
    if (done > 0 && name_of(fd)) record('W', name_of(fd), offset, data, done);
    pthread_mutex_unlock(&lock);
    return done;
}

ssize_t write(int fd, const void *data, size_t length) { return written_at(fd, data, length, 0, 1); }
ssize_t pwrite(int fd, const void *data, size_t length, off_t at) { return written_at(fd, data, length, at, 0); }
ssize_t pwrite64(int fd, const void *data, size_t length, off_t at) { return written_at(fd, data, length, at, 0); }

static int cut(int fd, off_t length) {
    pthread_mutex_lock(&lock);
    int result = syscall(SYS_ftruncate, fd, length);
    if (result == 0 && name_of(fd)) record('T', name_of(fd), length, "", 0);
    pthread_mutex_unlock(&lock);
    return result;
}

int ftruncate(int fd, off_t length) { return cut(fd, length); }
int ftruncate64(int fd, off_t length) { return cut(fd, length); }

static int synced(int fd, long call) {
    pthread_mutex_lock(&lock);
    int result = syscall(call, fd);
    if (result == 0 && name_of(fd)) record('S', name_of(fd), 0, "", 0);
    pthread_mutex_unlock(&lock);
    return result;
}

int fsync(int fd) { return synced(fd, SYS_fsync); }
int fdatasync(int fd) { return synced(fd, SYS_fdatasync); }

int unlink(const char *path) {
    pthread_mutex_lock(&lock);
    int result = syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    if (result == 0 && is_ours(path)) record('U', path, 0, "", 0);
    pthread_mutex_unlock(&lock);
    return result;
}
