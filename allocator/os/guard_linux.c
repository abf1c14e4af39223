#include "os/guard.h"

#include "os/clock.h"
#include "os/secret.h"

#include <errno.h>
#include <linux/random.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Where the call is missing or forbidden: what the kernel gave the process at its start, and the
 * clock. */
static uint64_t other_random(void) {
    struct timespec now = hak_os_clock(CLOCK_MONOTONIC);
    return hak_given_at_start(0) ^ ((uint64_t)now.tv_nsec << 32) ^ (uint64_t)now.tv_sec;
}

/* By its number: in libc's function a thread may be cancelled. */
uint64_t hak_os_random(void) {
    int saved_errno = errno;
    uint64_t value;
    if (syscall(SYS_getrandom, &value, sizeof value, GRND_NONBLOCK) != (long)sizeof value)
        value = other_random();
    errno = saved_errno;
    return value;
}
