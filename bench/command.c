/* Any command as a benchmark: runs it once and prints what it cost, as the other programs do.
 *
 *   command [--threads N] [--time-of NAME] [--times N] [--in FOLDER] PROGRAM [ARGUMENT...]
 *
 * Its output goes nowhere; its exit code is ours. One operation is the whole command with all
 * processes that it waits for or leaves behind: their processor time, page faults and context
 * switches together, and the peak of the largest one. What it leaves behind gets SIGTERM when it
 * has ended, and SIGKILL a second later. The mean is that of the whole family, looked at every few
 * milliseconds; what its processes share counts in each. --threads says how many threads it has;
 * without it the line does not tell. --times runs it so often, one operation each: for programs
 * that live shortly.
 *
 * --time-of takes processor time and peak from the processes of that name which have the library
 * that LD_PRELOAD names: those of a server, without the client that drives it. They are read when
 * the process is dead, which ptrace tells; so nothing is missed. Where the system forbids ptrace,
 * they are looked at every millisecond, and what a process does after the last look is not seen.
 * `looked=` is how many of them ended unseen. */
#include "command_follow.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { FAILED = 1, USAGE = 2 };

static double seconds(struct timeval t) {
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
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
    if (seen->name != NULL)
        printf("looked=%d ", seen->count);
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
    double wall = 0;
    int status = 0;
    follow_begin();
    for (long i = 0; i < number(times) && status == 0; i++)
        status = follow(folder, command, &seen, &wall);
    if (status != 0)
        return exit_code(status);
    if (seen.name != NULL && seen.count + seen.ended == 0) {
        fprintf(stderr, "command: no process called %s ran with the library%s%s\n", seen.name,
                *seen.ran != 0 ? "; these ran: " : "", *seen.ran != 0 ? seen.ran + 2 : "");
        return FAILED;
    }
    printf("command=%s ops=%ld seconds=%.9f ", command[0], number(times), wall);
    if (threads != NULL)
        printf("threads=%s ", threads);
    print_use(&seen);
    return fflush(stdout) == 0 ? 0 : FAILED;
}
