// Sets the clock of a process back by the CLOCK_BEHIND seconds of its environment. Built by tests/it/bucket/writers.rs, loaded
// with LD_PRELOAD.
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec *at) {
    int failed = syscall(SYS_clock_gettime, id, at);
    const char *behind = getenv("CLOCK_BEHIND");
    if (!failed && id == CLOCK_REALTIME && behind) at->tv_sec -= atol(behind);
    return failed;
}
