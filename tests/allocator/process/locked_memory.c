/* Memory that the program has locked cannot be given back: the allocator tries once and then leaves
 * it alone, and gives it back when it was used again and is not locked any more. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../support/check.h"
#include "../support/memory.h"

enum { SIZE = 4 << 20, TRIMS = 20 };

/* A figure of malloc_info. */
static size_t figure(const char *name) {
    char text[8192] = {0}, wanted[64];
    FILE *stream = fmemopen(text, sizeof text, "w");
    CHECK(stream && malloc_info(0, stream) == 0 && fclose(stream) == 0);
    snprintf(wanted, sizeof wanted, "name=\"%s\" value=\"", name);
    const char *found = strstr(text, wanted);
    CHECK_THAT(found, "no figure %s", name);
    return strtoull(found + strlen(wanted), NULL, 10);
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
    size_t tried = figure("purge_calls");
    for (int i = 0; i < TRIMS; i++)
        malloc_trim(0);
    size_t more = figure("purge_calls") - tried;
    CHECK_THAT(more < TRIMS / 2, "%zu purges in %d trims", more, TRIMS);
    CHECK(rss_kib() > locked - SIZE / 1024 / 2);
    char *again = malloc(SIZE); /* at the same place, or nearly */
    CHECK(munlockall() == 0);
    free(again);
    malloc_trim(0);
    CHECK_THAT(rss_kib() < locked - SIZE / 1024 / 2, "RSS %zu KiB, locked %zu", rss_kib(), locked);
    return 0;
}
