/* Starts under limits of the address space (ulimit -v) and works: threads, small, middle and large
 * blocks. The program runs itself again under each limit. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/pattern.h"
#include "../support/threads.h"

static const size_t limits_kib[] = {4000000, 2000000, 1000000, 500000, 200000, 100000};
enum { LIMITS = sizeof limits_kib / sizeof *limits_kib };

static void *use_all_sizes(void *unused) {
    for (int round = 0; round < 20; round++) {
        for (size_t size = 1; size <= (size_t)4 << 20; size = size * 3 / 2 + 1) {
            char *block = malloc(size);
            CHECK_THAT(block, "malloc(%zu) under the limit: errno %d", size, errno);
            pattern_mark(block, size, size);
            CHECK(pattern_marked(block, size, size));
            free(block);
        }
    }
    return unused;
}

/* Takes all there is in blocks of one size: the end of it is ENOMEM, and all can be given back. */
static void exhaust(size_t size) {
    void **last = NULL, **block;
    size_t count = 0;
    errno = 0;
    while ((block = malloc(size))) {
        *block = (void *)last;
        last = block;
        count++;
    }
    CHECK_THAT(errno == ENOMEM, "errno %d after %zu blocks of %zu", errno, count, size);
    CHECK_THAT(count * size >= (size_t)16 << 20, "only %zu blocks of %zu", count, size);
    while (last) {
        block = (void **)*last;
        free((void *)last);
        last = block;
    }
}

static int work_under_limit(size_t limit_kib) {
    hang_limit();
    use_all_sizes(NULL);
    char dummies[2];
    threads_run(2, use_all_sizes, dummies, 1);
    if (limit_kib <= 500000) {
        exhaust(1000000);
        exhaust(20000);
        exhaust(200);
        exhaust(3000000);
    }
    use_all_sizes(NULL);
    return 0;
}

static void start_under(const char *program, size_t limit_kib) {
    pid_t child = fork();
    if (child == 0) {
        char limit[24], *arguments[] = {(char *)"limited", limit, NULL};
        struct rlimit space = {limit_kib * 1024, limit_kib * 1024};
        CHECK(setrlimit(RLIMIT_AS, &space) == 0);
        snprintf(limit, sizeof limit, "%zu", limit_kib);
        execv(program, arguments);
        check_failed(__FILE__, __LINE__, "execv: errno %d", errno);
    }
    say("limit of %zu KiB", limit_kib);
    child_must_succeed(child);
}

int main(int count, char **arguments) {
    if (count == 2)
        return work_under_limit(strtoul(arguments[1], NULL, 10));
    for (int i = 0; i < LIMITS; i++)
        start_under(arguments[0], limits_kib[i]);
    return 0;
}
