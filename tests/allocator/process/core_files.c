/* Core files and debuggers that write them: address space that is only reserved is left out (it
 * would make them a terabyte long), what is used is in them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../support/check.h"

enum { MOST_MIB = 2048 }; /* of all mappings that core files contain */

static const size_t sizes[] = {16, 1000, 40000, 300000, 64 << 20};
enum { SIZES = sizeof sizes / sizeof *sizes };

static int found[SIZES];

static void note(char *const blocks[], size_t from, size_t to) {
    for (int i = 0; i < SIZES; i++)
        found[i] |= (size_t)blocks[i] >= from && (size_t)blocks[i] + sizes[i] <= to;
}

int main(void) {
    char line[512], *blocks[SIZES];
    size_t from = 0, to = 0, bytes = 0;
    for (int i = 0; i < SIZES; i++)
        CHECK(blocks[i] = malloc(sizes[i]));
    FILE *maps = fopen("/proc/self/smaps", "r");
    CHECK(maps);
    while (fgets(line, sizeof line, maps)) {
        if (strncmp(line, "VmFlags:", 8) == 0 && !strstr(line, " dd")) {
            bytes += to - from;
            note(blocks, from, to);
        }
        size_t first, end;
        if (sscanf(line, "%zx-%zx ", &first, &end) == 2) {
            from = first;
            to = end;
        }
    }
    fclose(maps);
    for (int i = 0; i < SIZES; i++) {
        CHECK_THAT(found[i], "a block of %zu bytes is in no core file", sizes[i]);
        free(blocks[i]);
    }
    CHECK_THAT(bytes >> 20 < MOST_MIB, "core files contain %zu MiB", bytes >> 20);
    return 0;
}
