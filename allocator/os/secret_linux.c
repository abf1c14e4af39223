#include "os/secret.h"

#include "os/os.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>

HAK_EARLY uintptr_t hak_secret;

uint64_t hak_given_at_start(unsigned word) {
    uint64_t value = 0;
    const char *given = (const char *)HAK_KEEP_ERRNO(getauxval(AT_RANDOM));
    if (given != NULL)
        memcpy(&value, given + word * sizeof value, sizeof value);
    return value;
}

/* Both words: libc has one for its canary and one for its pointers, and who learns our number must
 * learn neither. */
static uint64_t both_given(void) {
    uint64_t mixed = hak_mixed(hak_given_at_start(0)) + hak_given_at_start(1);
    return hak_mixed(mixed);
}

/* For loaders that hand nothing over: where the stack lies, and the time. */
static uint64_t drawn_here(void) {
    struct timespec now = hak_os_clock(CLOCK_MONOTONIC);
    return hak_mixed((uintptr_t)&now) ^ hak_mixed((uint64_t)now.tv_nsec);
}

void hak_secret_choose(void) {
    if (hak_secret != 0)
        return;
    uint64_t given = both_given();
    hak_secret = (uintptr_t)(given != 0 ? given : drawn_here()) | 1;
}
