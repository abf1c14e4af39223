/* A program that works in large buffers, each written as a whole and replaced by another of random
 * size, has its pages from the first round on: the system has to find few more. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/random.h"

#define MIB ((size_t)1 << 20)
enum { BUFFERS = 12, STEPS = 300, LEAST_MIB = 5, MOST_MIB = 15, SHARE = 4 };

static Random sizes;
static size_t written;

static char *replace(char *buffer) {
    size_t size = LEAST_MIB * MIB + random_below(&sizes, (MOST_MIB - LEAST_MIB) * MIB);
    free(buffer);
    CHECK((buffer = malloc(size)) != NULL);
    memset(buffer, 1, size);
    written += size;
    return buffer;
}

static size_t faults(void) {
    struct rusage usage;
    CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
    return (size_t)usage.ru_minflt;
}

int main(void) {
    char *buffers[BUFFERS] = {NULL};
    sizes = random_from(1);
    for (int i = 0; i < BUFFERS; i++)
        buffers[i] = replace(NULL);
    size_t before = faults();
    written = 0;
    for (int i = 0; i < STEPS; i++) {
        char **chosen = &buffers[random_below(&sizes, BUFFERS)];
        *chosen = replace(*chosen);
    }
    size_t pages = written / (size_t)sysconf(_SC_PAGESIZE), count = faults() - before;
    CHECK_THAT(count < pages / SHARE, "%zu faults for %zu pages", count, pages);
    for (int i = 0; i < BUFFERS; i++)
        free(buffers[i]);
    return 0;
}
