#include "os/secret.h"

#include <string.h>
#include <sys/auxv.h>
#include <time.h>

HAK_EARLY uintptr_t hak_secret;

/* Source: Steele, Lea & Flood, "Fast Splittable Pseudorandom Number Generators" (2014). */
static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Both halves of what the kernel gave: libc has one for its canary and one for its pointers, and
 * who learns our number must learn neither. */
static uint64_t given_at_start(void) {
    uint64_t halves[2];
    const void *given = (const void *)getauxval(AT_RANDOM);
    if (given == NULL)
        return 0;
    memcpy(halves, given, sizeof halves);
    return mix(mix(halves[0]) + halves[1]);
}

/* For loaders that hand nothing over: where the stack lies, and when it is. */
static uint64_t drawn_here(void) {
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return mix((uintptr_t)&now) ^ mix((uint64_t)now.tv_nsec);
}

void hak_secret_choose(void) {
    if (hak_secret != 0)
        return;
    uint64_t given = given_at_start();
    hak_secret = (uintptr_t)(given != 0 ? given : drawn_here()) | 1;
}
