/* Several threads fork at the same time, and their children end as ordinary programs do. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/random.h"
#include "../support/threads.h"

enum { THREADS = 4, ROUNDS = 40 / TEST_SHARE };

static void churn(Random *random, int count) {
    for (int i = 0; i < count; i++) {
        size_t size = random_size(random, 17);
        char *block = malloc(size);
        CHECK(block);
        memset(block, 1, size);
        free(block);
    }
}

static void *fork_often(void *argument) {
    Random random = random_from(*(const uint64_t *)argument);
    for (int round = 0; round < ROUNDS; round++) {
        void *mine = malloc(100);
        pid_t child = fork();
        if (child == 0) {
            hang_limit();
            churn(&random, 200);
            free(mine);
            exit(0);
        }
        churn(&random, 100);
        child_must_succeed(child);
        free(mine);
    }
    return NULL;
}

int main(void) {
    uint64_t seeds[THREADS] = {1, 2, 3, 4};
    threads_run(THREADS, fork_often, seeds, sizeof *seeds);
    return 0;
}
