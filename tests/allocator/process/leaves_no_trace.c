/* The library changes nothing else in the process: signal handlers, signal mask, open files,
 * rlimits, working directory and standard streams stay as they were, however much is allocated. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/random.h"
#include "../support/threads.h"

enum { HIGHEST_FILE = 64 };

static unsigned long long open_files(void) {
    unsigned long long files = 0;
    for (int file = 0; file < HIGHEST_FILE; file++)
        if (fcntl(file, F_GETFD) >= 0)
            files |= 1ull << file;
    return files;
}

static void signals_are_default(void) {
    for (int number = 1; number < NSIG; number++) {
        struct sigaction action;
        if (sigaction(number, NULL, &action) == 0)
            CHECK_THAT(action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN, "signal %d",
                       number);
    }
}

/* Signal by signal: of a sigset_t the system fills in those that there are. */
static void masks_are_alike(const sigset_t *before, const sigset_t *after) {
    for (int number = 1; number < NSIG; number++)
        CHECK_THAT(sigismember(before, number) == sigismember(after, number), "signal %d", number);
}

static void *allocate_much(void *unused) {
    Random random = random_from(1);
    for (int i = 0; i < 100000; i++)
        free(realloc(malloc(random_size(&random, 20)), 1 + random_size(&random, 18)));
    return unused;
}

int main(void) {
    sigset_t mask_before, mask_after;
    struct rlimit stack_before, stack_after;
    unsigned long long files = open_files();
    sigprocmask(SIG_BLOCK, NULL, &mask_before);
    getrlimit(RLIMIT_STACK, &stack_before);
    allocate_much(NULL);
    thread_join(thread_start(allocate_much, NULL));
    sigprocmask(SIG_BLOCK, NULL, &mask_after);
    getrlimit(RLIMIT_STACK, &stack_after);
    signals_are_default();
    masks_are_alike(&mask_before, &mask_after);
    CHECK(stack_before.rlim_cur == stack_after.rlim_cur);
    CHECK_THAT(open_files() == files, "open files %llx, before %llx", open_files(), files);
    return 0;
}
