#include "command_family.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { DEEPEST = 8, LINE = 4096 };

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

static bool has_library(pid_t pid) {
    const char *library = getenv("LD_PRELOAD");
    char *real = library != NULL ? realpath(library, NULL) : NULL;
    bool has = library == NULL || (real != NULL && has_mapped(pid, real));
    free(real);
    return has;
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static bool is_noted(const char *ran, const char *name) {
    size_t length = strlen(name);
    for (; (ran = strstr(ran, name)) != NULL; ran += length)
        if (ran[-1] == ' ' && (ran[length] == ',' || ran[length] == 0))
            return true;
    return false;
}

/* Notes the name of a process that is not timed: who looks for another one sees what ran. */
static void note_name(family *seen, const char *name) {
    size_t used = strlen(seen->ran);
    if (*name != 0 && used + strlen(name) + 3 <= NAMES && !is_noted(seen->ran, name))
        snprintf(seen->ran + used, NAMES - used, ", %s", name);
}

/* By the first word of its command line. */
static bool is_called(pid_t pid, family *seen) {
    char line[LINE];
    read_line(pid, "cmdline", line);
    bool is = strcmp(base_name(line), seen->name) == 0;
    if (!is)
        note_name(seen, base_name(line));
    return is;
}

static server *find_server(family *seen, pid_t pid) {
    for (int i = 0; i < seen->count; i++)
        if (seen->servers[i].pid == pid)
            return &seen->servers[i];
    return NULL;
}

static server *known_server(family *seen, pid_t pid) {
    server *known = find_server(seen, pid);
    if (known != NULL || seen->count == SERVERS)
        return known;
    if (!is_called(pid, seen) || !has_library(pid))
        return NULL;
    seen->servers[seen->count] = (server){.pid = pid};
    return &seen->servers[seen->count++];
}

static void forget(family *seen, server *one) {
    if (one != NULL)
        *one = seen->servers[--seen->count];
}

static long peak_kib(pid_t pid) {
    char line[LINE];
    long kib = 0;
    FILE *file = open_of(pid, "status");
    while (file != NULL && kib == 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "VmHWM:", 6) == 0)
            kib = strtol(line + 6, NULL, 10);
    if (file != NULL)
        fclose(file);
    return kib;
}

/* Of all its threads together, in nanoseconds, unlike /proc's; also of one that is dead and not yet
 * collected. Not of a thread that is not the first. */
static bool read_clock(pid_t pid, double *seconds) {
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
        return false;
    *seconds = (double)used.tv_sec + (double)used.tv_nsec / 1e9;
    return true;
}

void family_look_at(pid_t pid, family *seen) {
    double seconds;
    server *one = read_clock(pid, &seconds) ? known_server(seen, pid) : NULL;
    if (one == NULL)
        return;
    one->seconds = seconds;
    long peak = peak_kib(pid);
    seen->peak_kib = peak > seen->peak_kib ? peak : seen->peak_kib;
}

bool family_is_named(pid_t pid, family *seen) {
    bool named = is_called(pid, seen);
    if (!named)
        forget(seen, find_server(seen, pid));
    return named;
}

void family_end(pid_t pid, family *seen) {
    server *one = find_server(seen, pid);
    double seconds;
    if (one == NULL || !read_clock(pid, &seconds))
        return;
    seen->ended++;
    seen->ended_seconds += seconds;
    forget(seen, one);
}

double family_seconds(const family *seen) {
    double sum = seen->ended_seconds;
    for (int i = 0; i < seen->count; i++)
        sum += seen->servers[i].seconds;
    return sum;
}

static void read_children(pid_t pid, char line[LINE]) {
    char name[64];
    snprintf(name, sizeof name, "task/%d/children", (int)pid);
    read_line(pid, name, line);
}

/* Of the process and of all that its first thread has started. */
static long family_kib(pid_t pid, int depth, family *seen) {
    char line[LINE] = "", *rest = line;
    if (depth < DEEPEST)
        read_children(pid, line);
    long kib = resident_kib(pid);
    if (seen->name != NULL)
        family_look_at(pid, seen);
    for (long child; (child = strtol(rest, &rest, 10)) > 0;)
        kib += family_kib((pid_t)child, depth + 1, seen);
    return kib;
}

/* What its parent has left becomes a child of ours. */
static long left_kib(pid_t first, family *seen) {
    char line[LINE], *rest = line;
    long kib = 0;
    read_children(getpid(), line);
    for (long child; (child = strtol(rest, &rest, 10)) > 0;)
        kib += child == first ? 0 : family_kib((pid_t)child, 0, seen);
    return kib;
}

void family_look(pid_t child, family *seen) {
    seen->sum_kib += (double)(family_kib(child, 0, seen) + left_kib(child, seen));
    seen->looks++;
    if (getenv("LD_PRELOAD") != NULL && !seen->preloaded)
        seen->preloaded = has_library(child);
}

void family_signal(int number, family *seen) {
    char line[LINE], *rest = line;
    left_kib(0, seen);
    read_children(getpid(), line);
    for (long child; (child = strtol(rest, &rest, 10)) > 0;)
        kill((pid_t)child, number);
}
