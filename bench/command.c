/* Any command as a benchmark: runs it once and prints what it cost, as the other programs do.
 *
 *   command [--threads N] [--times N] [--in FOLDER] PROGRAM [ARGUMENT...]
 *
 * Its output goes nowhere; its exit code is ours. One operation is the whole command with all
 * processes that it waits for: their processor time, page faults and context switches together, and
 * the peak of the largest one. The mean is that of the whole family, looked at every few
 * milliseconds; what its processes share counts in each. --threads says how many threads it has;
 * without it the line does not tell. --times runs it so often,
 * one operation each: for programs that live shortly. */
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

enum { FAILED = 1, USAGE = 2, LOOK_EVERY_MS = 5, DEEPEST = 8, LINE = 4096 };

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

/* ---- what the family holds while it runs ---- */

typedef struct {
    double sum_kib;
    long looks;
    bool preloaded; /* the child has the file that LD_PRELOAD names */
} watch;

static FILE *open_of(pid_t pid, const char *name) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    return fopen(path, "r");
}

/* One line of numbers, or nothing. */
static void read_line(pid_t pid, const char *name, char line[LINE]) {
    FILE *file = open_of(pid, name);
    line[0] = 0;
    if (file == NULL)
        return;
    if (fgets(line, LINE, file) == NULL)
        line[0] = 0;
    fclose(file);
}

static long resident_kib(pid_t pid) {
    char line[LINE], *rest = NULL;
    read_line(pid, "statm", line);
    strtol(line, &rest, 10);
    return strtol(rest, NULL, 10) * sysconf(_SC_PAGESIZE) / 1024;
}

/* Of the process and of all that its first thread has started. */
static long family_kib(pid_t pid, int depth) {
    char name[64], line[LINE], *rest = line;
    snprintf(name, sizeof name, "task/%d/children", (int)pid);
    line[0] = 0;
    if (depth < DEEPEST)
        read_line(pid, name, line);
    long kib = resident_kib(pid);
    for (long child; (child = strtol(rest, &rest, 10)) > 0;)
        kib += family_kib((pid_t)child, depth + 1);
    return kib;
}

static bool has_mapped(pid_t pid, const char *path) {
    char line[LINE + 128];
    bool found = false;
    FILE *file = open_of(pid, "maps");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL)
        found = strstr(line, path) != NULL;
    if (file != NULL)
        fclose(file);
    return found;
}

static void look_at(pid_t child, watch *seen) {
    const char *library = getenv("LD_PRELOAD");
    seen->sum_kib += (double)family_kib(child, 0);
    seen->looks++;
    char *real = library != NULL && !seen->preloaded ? realpath(library, NULL) : NULL;
    if (real != NULL)
        seen->preloaded = has_mapped(child, real);
    free(real);
}

static bool await(pid_t child, watch *seen, int *status) {
    struct pollfd end = {.fd = pidfd_open(child, 0), .events = POLLIN};
    while (end.fd >= 0 && poll(&end, 1, LOOK_EVERY_MS) == 0)
        look_at(child, seen);
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

static void print_use(const watch *seen) {
    struct rusage used;
    getrusage(RUSAGE_CHILDREN, &used);
    printf("cpu_seconds=%.6f faults=%ld major_faults=%ld switches=%ld ",
           seconds(used.ru_utime) + seconds(used.ru_stime), used.ru_minflt, used.ru_majflt,
           used.ru_nvcsw + used.ru_nivcsw);
    if (seen->looks != 0)
        printf("mean_rss_kib=%.0f ", seen->sum_kib / (double)seen->looks);
    const char *library = getenv("LD_PRELOAD"), *name = library ? strrchr(library, '/') : NULL;
    if (seen->preloaded)
        printf("allocator=%s ", name != NULL ? name + 1 : library);
    printf("peak_rss_kib=%ld\n", used.ru_maxrss);
}

static long number(const char *text) {
    return text == NULL ? 1 : strtol(text, NULL, 10);
}

int main(int argc, char **argv) {
    char **command = argv + (argc > 0);
    const char *threads = option("--threads", &command);
    const char *times = option("--times", &command);
    const char *folder = option("--in", &command);
    if (*command == NULL || **command == '-' || number(threads) < 1 || number(times) < 1) {
        fprintf(stderr, "usage: %s [--threads N] [--times N] [--in FOLDER] PROGRAM [ARGUMENT...]\n",
                argv[0]);
        return USAGE;
    }
    double before = now();
    int status = 0;
    watch seen = {0};
    for (long i = 0; i < number(times) && status == 0; i++) {
        pid_t child = start(folder, command);
        if (!await(child, &seen, &status))
            return FAILED;
    }
    double wall = now() - before;
    if (status != 0)
        return exit_code(status);
    printf("command=%s ops=%ld seconds=%.9f ", command[0], number(times), wall);
    if (threads != NULL)
        printf("threads=%s ", threads);
    print_use(&seen);
    return fflush(stdout) == 0 ? 0 : FAILED;
}
