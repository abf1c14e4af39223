/* Other libraries allocate in their own fork handlers, those that were registered before ours and
 * those after: our locks must not be held then, neither in the parent nor in the child. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/random.h"
#include "../support/threads.h"

enum { FORKS = 60, BLOCKS = 400 };
static unsigned calls;

/* Small, middle and large blocks, enough of them to reach the slow paths and the locks. */
static void allocate(void) {
    static void *blocks[BLOCKS];
    Random random = random_from(++calls);
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(random_size(&random, i % 100 ? 15 : 23));
        CHECK(blocks[i]);
    }
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
}

/* Runs before the constructors of all libraries. */
static void register_early(int count, char **arguments, char **environment) {
    (void)count, (void)arguments, (void)environment;
    pthread_atfork(allocate, allocate, allocate);
}
__attribute__((section(".preinit_array"),
               used)) static void (*const early)(int, char **, char **) = register_early;

int main(void) {
    hang_limit();
    CHECK(pthread_atfork(allocate, allocate, allocate) == 0);
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        if (child == 0) {
            hang_limit();
            allocate();
            _exit(0);
        }
        child_must_succeed(child);
    }
    CHECK_THAT(calls == FORKS * 4, "handlers ran %u times in the parent", calls);
    return 0;
}
