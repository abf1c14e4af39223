#include "os/guard.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>

static bool allow(void *start, size_t size, int access) {
    int saved_errno = errno;
    bool done = mprotect(start, size, access) == 0;
    errno = saved_errno;
    return done;
}

bool hak_os_protect(void *start, size_t size) {
    return allow(start, size, PROT_NONE);
}

bool hak_os_unprotect(void *start, size_t size) {
    return allow(start, size, PROT_READ | PROT_WRITE);
}

/* Where the call is missing or forbidden: what the kernel gave the process at its start, and the
 * clock. */
static uint64_t other_random(void) {
    uint64_t value = 0;
    struct timespec now = {0};
    const void *given = (const void *)getauxval(AT_RANDOM);
    if (given != NULL)
        memcpy(&value, given, sizeof value);
    clock_gettime(CLOCK_MONOTONIC, &now);
    return value ^ ((uint64_t)now.tv_nsec << 32) ^ (uint64_t)now.tv_sec;
}

uint64_t hak_os_random(void) {
    int saved_errno = errno;
    uint64_t value;
    if (getrandom(&value, sizeof value, GRND_NONBLOCK) != (ssize_t)sizeof value)
        value = other_random();
    errno = saved_errno;
    return value;
}

/* ---- faults ---- */

static void (*explain_fault)(const void *address);

/* A fault happens again when we return, and then has its ordinary effect; a signal that somebody
 * sent does not. */
static void on_fault(int signal_number, siginfo_t *info, void *context) {
    (void)context;
    int saved_errno = errno;
    if (info->si_code > 0)
        explain_fault(info->si_addr);
    signal(signal_number, SIG_DFL);
    if (info->si_code <= 0)
        raise(signal_number);
    errno = saved_errno;
}

void hak_os_watch_faults(void (*explain)(const void *address)) {
    int saved_errno = errno;
    struct sigaction old, ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    explain_fault = explain;
    if (sigaction(SIGSEGV, NULL, &old) == 0 && (old.sa_flags & SA_SIGINFO) == 0 &&
        old.sa_handler == SIG_DFL)
        sigaction(SIGSEGV, &ours, NULL);
    errno = saved_errno;
}
