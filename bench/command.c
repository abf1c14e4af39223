/* Any command as a benchmark: runs it once and prints what it cost, as the other programs do.
 *
 *   command [--threads N] [--in FOLDER] PROGRAM [ARGUMENT...]
 *
 * Its output goes nowhere; its exit code is ours. One operation is the whole command with all
 * processes that it waits for: their processor time together, and the peak of the largest one.
 * --threads says how many threads it has; without it the line does not tell. */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

enum { FAILED = 1, USAGE = 2 };

extern char **environ;

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

static int exit_code(int status) {
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static const char *option(const char *name, char ***words) {
    if ((*words)[0] == NULL || strcmp((*words)[0], name) != 0 || (*words)[1] == NULL)
        return NULL;
    *words += 2;
    return (*words)[-1];
}

int main(int argc, char **argv) {
    char **command = argv + (argc > 0);
    const char *threads = option("--threads", &command);
    const char *folder = option("--in", &command);
    if (*command == NULL || **command == '-' || (threads != NULL && atoi(threads) < 1)) {
        fprintf(stderr, "usage: %s [--threads N] [--in FOLDER] PROGRAM [ARGUMENT...]\n", argv[0]);
        return USAGE;
    }
    double before = now();
    int status = 0;
    pid_t child = start(folder, command);
    if (waitpid(child, &status, 0) != child)
        return FAILED;
    double wall = now() - before;
    struct rusage used;
    getrusage(RUSAGE_CHILDREN, &used);
    if (status != 0)
        return exit_code(status);
    printf("command=%s ops=1 seconds=%.9f cpu_seconds=%.6f ", command[0], wall,
           seconds(used.ru_utime) + seconds(used.ru_stime));
    if (threads != NULL)
        printf("threads=%s ", threads);
    printf("peak_rss_kib=%ld\n", used.ru_maxrss);
    return fflush(stdout) == 0 ? 0 : FAILED;
}
