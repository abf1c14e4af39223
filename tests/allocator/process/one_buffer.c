/* A program that reads one large file as it starts, and then waits for ever: nothing calls the
 * library any more, so the memory goes back when the buffer is freed, or never. */
#include <stdlib.h>
#include <string.h>

#include "../support/check.h"
#include "../support/memory.h"

enum { SIZE = 200 << 20, LEFT_KIB = 24 << 10 };

int main(void) {
    size_t before = rss_kib();
    char *volatile buffer = malloc(SIZE);
    CHECK(buffer);
    memset(buffer, 1, SIZE);
    CHECK(rss_kib() >= before + SIZE / 1024);
    free(buffer);
    size_t after = rss_kib();
    CHECK_THAT(after <= before + LEFT_KIB, "%zu KiB before, %zu after", before, after);
    return 0;
}
