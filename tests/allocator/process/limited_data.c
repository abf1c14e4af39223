/* Under a limit on private memory (ulimit -d), which address space reserved but not used must not
 * count against: most of it can be had in blocks of any size, the end is ENOMEM, and what is freed
 * can be had again. */
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "../support/check.h"
#include "../support/pattern.h"
#include "../support/threads.h"

enum { LIMIT_MIB = 200, LEAST_MIB = 150 };

/* Takes blocks until there are none; returns how many MiB they were. */
static size_t take_all(size_t size) {
    void **last = NULL, **block;
    size_t count = 0;
    errno = 0;
    while ((block = malloc(size))) {
        pattern_mark(block, size, count);
        *block = (void *)last;
        last = block;
        count++;
    }
    CHECK_THAT(errno == ENOMEM, "errno %d", errno);
    while (last) {
        block = (void **)*last;
        free((void *)last);
        last = block;
    }
    return count * size >> 20;
}

int main(void) {
    static const size_t sizes[] = {1 << 20, 100, 5000, 60000, 16 << 20, 1000, 1 << 20};
    struct rlimit limit = {(rlim_t)LIMIT_MIB << 20, (rlim_t)LIMIT_MIB << 20};
    hang_limit();
    CHECK(setrlimit(RLIMIT_DATA, &limit) == 0);
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t had = take_all(sizes[i]);
        CHECK_THAT(had >= LEAST_MIB, "only %zu MiB in blocks of %zu", had, sizes[i]);
    }
    return 0;
}
