/* A small block that is a sample of a heap profile has a run of 64 KiB. Where other blocks lay in
 * it, what they left behind the sample goes back: a sample keeps no more than a page of the system.
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "../support/check.h"
#include "../support/memory.h"

enum { BLOCKS = 200, LARGE = 60 << 10, SMALL = 100, SLACK_KIB = 5 << 10 };

static void *blocks[BLOCKS];

static void fill(size_t size) {
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(size);
        CHECK(blocks[i]);
        memset(blocks[i], 1, size);
    }
}

static void free_all(void) {
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
}

int main(void) {
    int (*start)(size_t) = (int (*)(size_t))dlsym(RTLD_DEFAULT, "hak_profile_start");
    void (*stop)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "hak_profile_stop");
    CHECK(start && stop);
    size_t before = rss_kib();
    fill(LARGE);
    free_all();
    if (start(1) == ENOTSUP)
        return SKIPPED; /* the guard */
    fill(SMALL);
    malloc_trim(0);
    size_t kept = rss_kib() - before;
    CHECK_THAT(kept <= (size_t)BLOCKS * 4 + SLACK_KIB, "%d samples keep %zu KiB", BLOCKS, kept);
    stop();
    free_all();
    return 0;
}
