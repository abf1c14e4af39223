/* What the library costs a program that does nothing: less than 96 KiB of memory of its own (60
 * were measured on x86-64), by smaps on the same program without and with it. Address space costs
 * nothing.
 *
 * The text is said but not judged: processes share it, and how much of a file the kernel maps
 * around a fault is for the kernel, the file system and the page cache to say. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/memory.h"
#include "../support/served.h"
#include "../support/threads.h"

enum { ALLOWED_KIB = 96, RUNS = 20 };

typedef struct {
    size_t rss, dirty;
} Cost;

static int report(void) {
    free(malloc(100));
    Cost cost = {rss_kib(), smaps_kib("Private_Dirty:")};
    return write(STDOUT_FILENO, &cost, sizeof cost) == sizeof cost ? 0 : 1;
}

static void become(const char *program, int output, const char *library) {
    dup2(output, STDOUT_FILENO);
    if (library) {
        setenv("LD_PRELOAD", library, 1);
    } else {
        unsetenv("LD_PRELOAD");
        setenv("TEST_MALLOC_FROM", "libc.so", 1);
    }
    execl(program, "report", "report", NULL);
    _exit(2);
}

static Cost cost_once(const char *program, const char *library) {
    Cost cost;
    int ends[2];
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0)
        become(program, ends[1], library);
    CHECK(read(ends[0], &cost, sizeof cost) == sizeof cost);
    child_must_succeed(child);
    close(ends[0]);
    close(ends[1]);
    return cost;
}

static Cost cost_with(const char *program, const char *library) {
    Cost sum = {0, 0};
    for (int run = 0; run < RUNS; run++) {
        Cost cost = cost_once(program, library);
        sum.rss += cost.rss;
        sum.dirty += cost.dirty;
    }
    return (Cost){sum.rss / RUNS, sum.dirty / RUNS};
}

int main(int count, char **arguments) {
    if (count == 2)
        return report();
    const char *library = getenv("LD_PRELOAD");
    CHECK(library && strstr(library, expected_server()));
    Cost plain = cost_with(arguments[0], NULL), loaded = cost_with(arguments[0], library);
    say("RSS %zu -> %zu KiB, private dirty %zu -> %zu KiB", plain.rss, loaded.rss, plain.dirty,
        loaded.dirty);
    CHECK_THAT(loaded.dirty < plain.dirty + ALLOWED_KIB, "%zu KiB of its own",
               loaded.dirty - plain.dirty);
    return 0;
}
