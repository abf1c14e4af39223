#include "base/fatal.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SIGNALS = 8 }; /* bytes of a set of signals in the kernel */
static const uint64_t broken_pipe = UINT64_C(1) << (SIGPIPE - 1);
static const uint64_t too_large = UINT64_C(1) << (SIGXFSZ - 1);

static uint64_t change_blocked(int how, uint64_t set) {
    uint64_t before = 0;
    syscall(SYS_rt_sigprocmask, how, &set, &before, SIGNALS);
    return before;
}

/* The signals that wait already: only one that was blocked before can. */
static uint64_t waiting(uint64_t blocked_before) {
    uint64_t set = 0;
    if ((blocked_before & (broken_pipe | too_large)) != 0)
        syscall(SYS_rt_sigpending, &set, SIGNALS);
    return set;
}

/* Drops a signal that our write raised, and that waits because it is blocked. */
static void drop(uint64_t signal) {
    const struct timespec at_once = {0, 0};
    syscall(SYS_rt_sigtimedwait, &signal, NULL, &at_once, SIGNALS);
}

static uint64_t sent_with(int error) {
    if (error == EPIPE)
        return broken_pipe;
    return error == EFBIG ? too_large : 0;
}

long hak_write(int file, const void *from, size_t size) {
    uint64_t before = change_blocked(SIG_BLOCK, broken_pipe | too_large);
    uint64_t of_the_program = waiting(before);
    long written = syscall(SYS_write, file, from, size);
    int error = errno;
    uint64_t sent = written < 0 ? sent_with(error) & ~of_the_program : 0;
    if (sent != 0)
        drop(sent);
    change_blocked(SIG_SETMASK, before);
    errno = error;
    return written;
}
