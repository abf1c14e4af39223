/* The clock where the system hands no function over, as under valgrind: it goes all the same, and
 * errno stays, although libc's look-up says ENOENT there. */
#include <errno.h>
#include <sys/auxv.h>
#include <time.h>

#include "../support/check.h"
#include "os/os.h"

unsigned long __real_getauxval(unsigned long type);
unsigned long __wrap_getauxval(unsigned long type);

unsigned long __wrap_getauxval(unsigned long type) {
    if (type != AT_SYSINFO_EHDR)
        return __real_getauxval(type);
    errno = ENOENT;
    return 0;
}

int main(void) {
    struct timespec before, after;
    CHECK(clock_gettime(CLOCK_MONOTONIC, &before) == 0);
    errno = 0;
    struct timespec now = hak_os_clock(CLOCK_MONOTONIC);
    CHECK(errno == 0);
    CHECK(clock_gettime(CLOCK_MONOTONIC, &after) == 0);
    CHECK(before.tv_sec <= now.tv_sec && now.tv_sec <= after.tv_sec);
    struct timespec none = hak_os_clock(-1000000);
    CHECK(errno == 0 && none.tv_sec == 0 && none.tv_nsec == 0);
    return 0;
}
