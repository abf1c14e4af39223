/* Huge buffers of five sizes in turn, one at a time, each written as a whole: what a longer one
 * leaves behind a shorter one is wanted again at once. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../support/check.h"

#define MIB ((size_t)1 << 20)
enum { ROUNDS = 20, SIZES = 5, LEAST_MIB = 20, STEP_MIB = 17, SHARE = 16 };

static size_t written;

static void use(size_t size) {
    char *buffer = malloc(size);
    CHECK(buffer != NULL);
    memset(buffer, 1, size);
    written += size;
    free(buffer);
}

static size_t faults(void) {
    struct rusage usage;
    CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
    return (size_t)usage.ru_minflt;
}

static void use_each(void) {
    for (size_t i = 0; i < SIZES; i++)
        use((LEAST_MIB + STEP_MIB * i) * MIB);
}

int main(void) {
    use_each();
    size_t before = faults();
    written = 0;
    for (int i = 0; i < ROUNDS; i++)
        use_each();
    size_t pages = written / (size_t)sysconf(_SC_PAGESIZE), count = faults() - before;
    CHECK_THAT(count < pages / SHARE, "%zu faults for %zu pages", count, pages);
    return 0;
}
