/* A handler of signals ends the process while a heap profile is made. It may have interrupted the
 * thread under the lock of the samples. No last profile is written then, and the process ends all
 * the same. The program starts itself again, so that each of its blocks is a sample. */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/threads.h"

enum { PROCESSES = 60 / TEST_SHARE, STEP_US = 97, CODE = 5, PATH = 128 };

static char folder[] = "/tmp/hakmem-exit-XXXXXX";

static void end(int number) {
    (void)number;
    exit(CODE);
}

static void allocate_until_the_end(int turn) {
    struct itimerval soon = {.it_value = {.tv_usec = 500 + turn * STEP_US}};
    hang_limit();
    signal(SIGVTALRM, end);
    CHECK(setitimer(ITIMER_VIRTUAL, &soon, NULL) == 0);
    for (;;)
        free(malloc(100));
}

static void end_one(int turn) {
    char profile[PATH];
    int status;
    pid_t child = fork();
    if (child == 0)
        allocate_until_the_end(turn);
    CHECK(waitpid(child, &status, 0) == child);
    snprintf(profile, sizeof profile, "%s.%d.1.heap", getenv("HAKMEM_PROFILE_HEAP"), (int)child);
    unlink(profile);
    CHECK_THAT(WIFEXITED(status) && WEXITSTATUS(status) == CODE, "status %x in turn %d", status,
               turn);
}

/* What the parent of all these writes at its own end is left for who made the folder. */
static void run_with_profile(void) {
    char prefix[PATH / 2], own[PATH];
    int status;
    snprintf(prefix, sizeof prefix, "%s/p", folder);
    setenv("HAKMEM_PROFILE_HEAP", prefix, 1);
    setenv("HAKMEM_PROFILE_RATE", "1", 1);
    pid_t child = start_again((char *[]){"exit_in_handler", "again", NULL});
    CHECK(waitpid(child, &status, 0) == child);
    snprintf(own, sizeof own, "%s.%d.1.heap", prefix, (int)child);
    unlink(own);
    rmdir(folder);
    CHECK_THAT(status == 0, "status %x", status);
}

int main(int count, char **arguments) {
    (void)arguments;
    int (*start)(size_t) = (int (*)(size_t))dlsym(RTLD_DEFAULT, "hak_profile_start");
    CHECK(start);
    if (count == 1 && start(1) == ENOTSUP)
        return SKIPPED; /* the guard */
    if (count == 1) {
        CHECK(mkdtemp(folder));
        run_with_profile();
        return 0;
    }
    for (int turn = 0; turn < PROCESSES; turn++)
        end_one(turn);
    return 0;
}
