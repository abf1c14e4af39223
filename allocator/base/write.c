#include "base/write.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SIGNALS = 8 }; /* bytes of a set of signals in the kernel */

static uint64_t set_of(int signal) {
    return UINT64_C(1) << (signal - 1);
}

static void change_blocked(int how, uint64_t set, uint64_t *before) {
    syscall(SYS_rt_sigprocmask, how, &set, before, SIGNALS);
}

/* A signal that the thread has sent itself, and that waits because it is blocked. */
static void drop(int signal) {
    const uint64_t set = set_of(signal);
    const struct timespec at_once = {0, 0};
    syscall(SYS_rt_sigtimedwait, &set, NULL, &at_once, SIGNALS);
}

long hak_write(int file, const void *from, size_t size) {
    uint64_t before = 0;
    change_blocked(SIG_BLOCK, set_of(SIGPIPE) | set_of(SIGXFSZ), &before);
    long written = syscall(SYS_write, file, from, size);
    int error = errno;
    if (written < 0 && (error == EPIPE || error == EFBIG))
        drop(error == EPIPE ? SIGPIPE : SIGXFSZ);
    change_blocked(SIG_SETMASK, before, NULL);
    errno = error;
    return written;
}
