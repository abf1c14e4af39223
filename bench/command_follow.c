#include "command_follow.h"

#include "command_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FAILED = 1 };
static const double LOOK_EVERY_S = 0.005, TIME_EVERY_S = 0.001;
/* What the command has left behind is asked to end, then killed. */
static const double GRACE_S = 1, LIMIT_S = 10;

static sigset_t ends;
static start_state before;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Under a real-time policy a command that shares our processor would run for a whole slice, which
 * is 100 ms, or to its end, before the first look. So we go one rank up, and it keeps ours. */
static bool outrank(struct sched_param *old) {
    int policy = sched_getscheduler(0);
    if ((policy != SCHED_RR && policy != SCHED_FIFO) || sched_getparam(0, old) != 0)
        return false;
    struct sched_param above = {.sched_priority = old->sched_priority + 1};
    return sched_setparam(0, &above) == 0;
}

void follow_begin(void) {
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    before.outranked = outrank(&before.rank);
    sigemptyset(&ends);
    sigaddset(&ends, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ends, &before.mask);
}

/* posix_spawn leaves no copy of our own memory behind: the peak of the child is its own. */
static pid_t start(const char *folder, char **command) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t how;
    pid_t child;
    posix_spawnattr_init(&how);
    posix_spawnattr_setsigmask(&how, &before.mask);
    posix_spawnattr_setschedparam(&how, &before.rank);
    short ranked = before.outranked ? POSIX_SPAWN_SETSCHEDPARAM : 0;
    posix_spawnattr_setflags(&how, (short)(POSIX_SPAWN_SETSIGMASK | ranked));
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (folder != NULL)
        posix_spawn_file_actions_addchdir_np(&actions, folder);
    int error = posix_spawnp(&child, command[0], &actions, &how, command, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&how);
    if (error != 0) {
        fprintf(stderr, "command: cannot run %s: %s\n", command[0], strerror(error));
        exit(FAILED);
    }
    return child;
}

/* ---- what has happened ---- */

/* Takes one event, if there is one. Tells of none, of `child`'s end, or of something else. */
typedef enum { NOTHING, OTHER, END, NOBODY } event;

static event take(pid_t child, family *seen, int *status) {
    siginfo_t told = {0};
    int got;
    if (waitid(P_ALL, 0, &told, WEXITED | WNOHANG | WNOWAIT | __WALL) != 0)
        return NOBODY;
    if (told.si_pid == 0)
        return NOTHING;
    if (told.si_code == CLD_EXITED || told.si_code == CLD_KILLED || told.si_code == CLD_DUMPED)
        family_end(told.si_pid, seen);
    if (waitpid(told.si_pid, &got, __WALL | WNOHANG) != told.si_pid)
        return OTHER;
    if (WIFSTOPPED(got))
        trace_resume(told.si_pid, got, seen);
    if (WIFSTOPPED(got) || told.si_pid != child)
        return OTHER;
    *status = got;
    return END;
}

static void pause_until(double moment) {
    double seconds = moment - now();
    struct timespec rest = {.tv_nsec = seconds > 0 ? (long)(seconds * 1e9) : 0};
    sigtimedwait(&ends, NULL, &rest);
}

static bool await(pid_t child, family *seen, double every, int *status) {
    for (double next = now() + every;;) {
        event what = take(child, seen, status);
        if (what == END || what == NOBODY)
            return what == END;
        if (what == NOTHING)
            pause_until(next);
        if (now() < next)
            continue;
        family_look(child, seen);
        next = now() + every;
    }
}

/* ---- what is left ---- */

static void end_rest(family *seen) {
    int status;
    event what = take(0, seen, &status);
    if (what == NOBODY)
        return;
    family_signal(SIGTERM, seen);
    for (double begun = now(); what != NOBODY; what = take(0, seen, &status)) {
        if (now() > begun + GRACE_S)
            family_signal(SIGKILL, seen);
        if (now() > begun + LIMIT_S) {
            fprintf(stderr, "command: a process that the command has left does not end\n");
            exit(FAILED);
        }
        if (what == NOTHING)
            pause_until(now() + LOOK_EVERY_S);
    }
}

int follow(const char *folder, char **command, family *seen, double *wall) {
    double begun = now();
    bool traced = false;
    int status;
    pid_t child = seen->name == NULL ? start(folder, command)
                                     : trace_start(folder, command, &before, &traced);
    bool looks_decide = seen->name != NULL && !traced;
    if (!await(child, seen, looks_decide ? TIME_EVERY_S : LOOK_EVERY_S, &status)) {
        perror("command: waitid");
        exit(FAILED);
    }
    *wall += now() - begun;
    end_rest(seen);
    return status;
}
