/* Signal handlers that fork, wherever they interrupt the allocator: while it holds its locks, too.
 * The child of a program with one thread goes on where its parent was. A handler for SIGABRT may
 * fork a debugger when the allocator has found a misuse under a lock. */
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/threads.h"

enum { FORKS = 300, PERIOD_NS = 300000, SLOTS = 64, CHILD_STEPS = 200 };

static volatile sig_atomic_t forks, is_child;

static void fork_and_wait(int signal_number) {
    (void)signal_number;
    pid_t child = fork();
    if (child == 0) {
        is_child = 1;
        return;
    }
    int status = 1;
    while (waitpid(child, &status, 0) < 0)
        continue;
    if (status != 0)
        _exit(3);
    forks++;
}

static void start_timer(void) {
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec often = {{0, PERIOD_NS}, {0, PERIOD_NS}};
    CHECK(signal(SIGUSR1, fork_and_wait) != SIG_ERR);
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    CHECK(timer_settime(timer, 0, &often, NULL) == 0);
}

/* Large blocks and trims, which spend their time under locks. */
static void work(void) {
    void *blocks[SLOTS] = {NULL};
    for (unsigned i = 0, steps_of_child = 0; forks < FORKS; i++) {
        free(blocks[i % SLOTS]);
        blocks[i % SLOTS] = malloc(70000 + (i % 7) * 65536);
        CHECK(blocks[i % SLOTS]);
        *(char *)blocks[i % SLOTS] = 1;
        if (i % 100 == 0)
            malloc_trim(0);
        if (is_child && ++steps_of_child == CHILD_STEPS)
            _exit(0);
    }
}

static void end_after_fork(int signal_number) {
    (void)signal_number;
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    _exit(child > 0 && waitpid(child, NULL, 0) == child ? 0 : 2);
}

static void abort_under_a_lock(void) {
    time_limit(20);
    CHECK(signal(SIGABRT, end_after_fork) != SIG_ERR);
    void *volatile block = malloc(100), *volatile other = malloc(100);
    free(block);
    free(other);
    free(block);
    malloc_trim(0); /* finds it at the latest */
    _exit(1);
}

int main(void) {
    pid_t child = fork();
    if (child == 0)
        abort_under_a_lock();
    child_must_succeed(child);
    start_timer();
    work();
    return 0;
}
