/* A process that allocates nothing maps nothing: where heaps and blocks lie is asked of the system
 * at the first call. Programs that live shortly (true, test, a shell that execs) pay for no heap.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../support/check.h"

enum { MAPS_BYTES = 1 << 16 };

/* The process's mappings, read without stdio: that allocates. */
static size_t count_mappings(void) {
    static char maps[MAPS_BYTES];
    int file = open("/proc/self/maps", O_RDONLY);
    CHECK(file >= 0);
    size_t end = 0, lines = 0;
    for (ssize_t got; (got = read(file, maps + end, sizeof maps - end)) > 0;)
        end += (size_t)got;
    CHECK(end < sizeof maps);
    close(file);
    for (size_t i = 0; i < end; i++)
        lines += maps[i] == '\n';
    return lines;
}

int main(void) {
    size_t before = count_mappings();
    void *volatile block = malloc(100);
    CHECK(block != NULL);
    memset(block, 1, 100);
    size_t after = count_mappings();
    CHECK_THAT(after > before, "%zu mappings before the first malloc, %zu after", before, after);
    free(block);
    return 0;
}
