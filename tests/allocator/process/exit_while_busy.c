/* A process ends by exit while its threads allocate: destructors and the C library's own clean-up
 * run beside them, and the exit code is the one that was asked for. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/random.h"
#include "../support/threads.h"

enum { PROCESSES = 60 / TEST_SHARE, THREADS = 4, SLOTS = 100, CODE = 5 };

static void *allocate_for_ever(void *unused) {
    Random random = random_from((uint64_t)getpid());
    void *blocks[SLOTS] = {NULL};
    for (;;) {
        size_t i = random_below(&random, SLOTS);
        free(blocks[i]);
        blocks[i] = malloc(random_size(&random, i == 0 ? 22 : 13));
        CHECK(blocks[i]);
    }
    return unused;
}

static void at_the_end(void) {
    for (size_t size = 1; size < 4000; size += 13)
        free(malloc(size));
}

int main(void) {
    hang_limit();
    CHECK(atexit(at_the_end) == 0);
    for (unsigned i = 0; i < PROCESSES; i++) {
        pid_t child = fork();
        int status;
        if (child == 0) {
            hang_limit();
            for (int thread = 0; thread < THREADS; thread++)
                thread_start(allocate_for_ever, NULL);
            usleep(100 * TEST_SHARE * i);
            exit(CODE);
        }
        CHECK(waitpid(child, &status, 0) == child);
        CHECK_THAT(WIFEXITED(status) && WEXITSTATUS(status) == CODE, "status %x", status);
    }
    return 0;
}
