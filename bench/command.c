/* Any command as a benchmark: runs it once and prints what it cost, as the other programs do.
 *
 *   command [--threads N] [--time-of NAME] [--times N] [--in FOLDER] PROGRAM [ARGUMENT...]
 *
 * Its output goes nowhere; its exit code is ours. One operation is the whole command with all
 * processes that it waits for: their processor time, page faults and context switches together, and
 * the peak of the largest one. The mean is that of the whole family, looked at every few
 * milliseconds; what its processes share counts in each. --threads says how many threads it has;
 * without it the line does not tell. --times runs it so often, one operation each: for programs
 * that live shortly.
 *
 * --time-of takes processor time and peak from the processes of that name which have the library
 * that LD_PRELOAD names: those of a server, without the client that drives it. They are looked at
 * every millisecond, so what one does after the last look is not seen: a millisecond, more where
 * the machine is busy. */
#include "command_family.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FAILED = 1, USAGE = 2, LOOK_EVERY_MS = 5, TIME_EVERY_MS = 1 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double seconds(struct timeval t) {
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* posix_spawn leaves no copy of our own memory behind: the peak of the child is its own. */
static pid_t start(const char *folder, char **command) {
    posix_spawn_file_actions_t actions;
    pid_t child;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (folder != NULL)
        posix_spawn_file_actions_addchdir_np(&actions, folder);
    int error = posix_spawnp(&child, command[0], &actions, NULL, command, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        fprintf(stderr, "command: cannot run %s: %s\n", command[0], strerror(error));
        exit(FAILED);
    }
    return child;
}

static bool await(pid_t child, family *seen, int *status) {
    struct pollfd end = {.fd = pidfd_open(child, 0), .events = POLLIN};
    int pause = seen->name != NULL ? TIME_EVERY_MS : LOOK_EVERY_MS;
    while (end.fd >= 0 && poll(&end, 1, pause) == 0)
        family_look(child, seen);
    if (end.fd >= 0)
        close(end.fd);
    return waitpid(child, status, 0) == child;
}

/* ---- the result ---- */

static int exit_code(int status) {
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static const char *option(const char *name, char ***words) {
    if ((*words)[0] == NULL || strcmp((*words)[0], name) != 0 || (*words)[1] == NULL)
        return NULL;
    *words += 2;
    return (*words)[-1];
}

static void print_use(const family *seen) {
    struct rusage used;
    getrusage(RUSAGE_CHILDREN, &used);
    double whole = seconds(used.ru_utime) + seconds(used.ru_stime);
    printf("cpu_seconds=%.6f faults=%ld major_faults=%ld switches=%ld ",
           seen->name != NULL ? family_seconds(seen) : whole, used.ru_minflt, used.ru_majflt,
           used.ru_nvcsw + used.ru_nivcsw);
    if (seen->looks != 0)
        printf("mean_rss_kib=%.0f ", seen->sum_kib / (double)seen->looks);
    const char *library = getenv("LD_PRELOAD"), *name = library ? strrchr(library, '/') : NULL;
    if (seen->preloaded)
        printf("allocator=%s ", name != NULL ? name + 1 : library);
    printf("peak_rss_kib=%ld\n", seen->name != NULL ? seen->peak_kib : used.ru_maxrss);
}

static long number(const char *text) {
    return text == NULL ? 1 : strtol(text, NULL, 10);
}

int main(int argc, char **argv) {
    char **command = argv + (argc > 0);
    const char *threads = option("--threads", &command);
    static family seen;
    seen.name = option("--time-of", &command);
    const char *times = option("--times", &command);
    const char *folder = option("--in", &command);
    if (*command == NULL || **command == '-' || number(threads) < 1 || number(times) < 1) {
        fprintf(stderr,
                "usage: %s [--threads N] [--time-of NAME] [--times N] [--in FOLDER] PROGRAM "
                "[ARGUMENT...]\n",
                argv[0]);
        return USAGE;
    }
    double before = now();
    int status = 0;
    for (long i = 0; i < number(times) && status == 0; i++) {
        pid_t child = start(folder, command);
        if (!await(child, &seen, &status))
            return FAILED;
    }
    double wall = now() - before;
    if (status != 0)
        return exit_code(status);
    if (seen.name != NULL && seen.count == 0) {
        fprintf(stderr, "command: no process called %s ran with the library\n", seen.name);
        return FAILED;
    }
    printf("command=%s ops=%ld seconds=%.9f ", command[0], number(times), wall);
    if (threads != NULL)
        printf("threads=%s ", threads);
    print_use(&seen);
    return fflush(stdout) == 0 ? 0 : FAILED;
}
