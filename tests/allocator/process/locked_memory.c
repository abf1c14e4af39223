/* Memory that the program has locked goes back when it is freed, and comes again. Where the system
 * takes no locked memory (Linux before 5.18), the allocator tries once and leaves it alone until it
 * was used again. */
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../support/check.h"
#include "../support/memory.h"

enum { SIZE = 4 << 20, TRIMS = 20, LOCKED_TOO = 24 /* MADV_DONTNEED_LOCKED */ };

/* A figure of malloc_info. */
static size_t figure(const char *name) {
    char text[1 << 16] = {0}, wanted[64];
    FILE *stream = fmemopen(text, sizeof text, "w");
    CHECK(stream && malloc_info(0, stream) == 0 && fclose(stream) == 0);
    snprintf(wanted, sizeof wanted, "name=\"%s\" value=\"", name);
    const char *found = strstr(text, wanted);
    CHECK_THAT(found, "no figure %s", name);
    return strtoull(found + strlen(wanted), NULL, 10);
}

static bool system_takes_locked(void) {
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(page != MAP_FAILED && mlock(page, 4096) == 0);
    bool taken = madvise(page, 4096, LOCKED_TOO) == 0;
    munmap(page, 4096);
    return taken;
}

static void is_tried_once(void) {
    size_t tried = figure("purge_calls");
    for (int i = 0; i < TRIMS; i++)
        malloc_trim(0);
    size_t more = figure("purge_calls") - tried;
    CHECK_THAT(more < TRIMS / 2, "%zu purges in %d trims", more, TRIMS);
}

int main(void) {
    free(malloc(SIZE));
    malloc_trim(0);
    char *block = malloc(SIZE);
    if (mlock(block, SIZE) != 0) {
        say("this process may not lock %d KiB", SIZE / 1024);
        return SKIPPED;
    }
    size_t locked = rss_kib();
    free(block);
    malloc_trim(0);
    is_tried_once();
    if (system_takes_locked())
        CHECK_THAT(rss_kib() < locked - SIZE / 1024 / 2, "RSS %zu, locked %zu", rss_kib(), locked);
    else
        CHECK(rss_kib() > locked - SIZE / 1024 / 2);
    char *again = malloc(SIZE); /* at the same place, or nearly */
    memset(again, 1, SIZE);
    CHECK(munlockall() == 0);
    free(again);
    malloc_trim(0);
    CHECK_THAT(rss_kib() < locked - SIZE / 1024 / 2, "RSS %zu KiB, locked %zu", rss_kib(), locked);
    return 0;
}
