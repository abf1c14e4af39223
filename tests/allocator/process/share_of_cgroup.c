/* In a memory cgroup of its own, a process that may use half of what the group grants is refused
 * more, also when its first thread has ended, and the group never refuses anything. Needs a system
 * on which this user makes groups. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/threads.h"

enum { MIB = 1 << 20, GRANTED_MIB = 64, BLOCKS = GRANTED_MIB, LATER_MS = 600 };

static char folder[256];

static bool put(const char *name, const char *text) {
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int file = open(path, O_WRONLY);
    bool done = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
    if (file >= 0)
        close(file);
    return done;
}

/* Version 1, else version 2. */
static bool make_group(void) {
    static const char *const mounts[][2] = {{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"},
                                            {"/sys/fs/cgroup", "memory.max"}};
    for (size_t i = 0; i < 2; i++) {
        snprintf(folder, sizeof folder, "%s/hakmem-test-%d", mounts[i][0], (int)getpid());
        if (mkdir(folder, 0700) != 0)
            continue;
        if (put(mounts[i][1], "67108864"))
            return true;
        rmdir(folder);
    }
    return false;
}

static void fill(void) {
    size_t count = 0;
    char *blocks[BLOCKS];
    while (count < BLOCKS && (blocks[count] = malloc(MIB)) != NULL)
        memset(blocks[count++], 1, MIB);
    CHECK_THAT(count > GRANTED_MIB / 4 && count <= GRANTED_MIB / 2, "%zu MiB", count);
    while (count > 0)
        free(blocks[--count]);
    CHECK(malloc(MIB));
}

static pthread_t first;

/* When the limit is read again. */
static void *fill_later(void *unused) {
    CHECK(pthread_join(first, NULL) == 0);
    usleep(LATER_MS * 1000);
    fill();
    return unused;
}

static _Noreturn void fill_twice(void) {
    fill();
    first = pthread_self();
    thread_start(fill_later, NULL);
    pthread_exit(NULL);
}

static void run_in_group(char *program) {
    if (!put("cgroup.procs", "0"))
        _exit(SKIPPED);
    setenv("HAKMEM_HARD_LIMIT", "50%", 1);
    execl(program, program, "inside", NULL);
    _exit(1);
}

int main(int count, char **arguments) {
    hang_limit();
    if (count > 1)
        fill_twice();
    if (!make_group()) {
        say("no memory cgroup can be made here");
        return SKIPPED;
    }
    int status = 1;
    pid_t child = fork();
    if (child == 0)
        run_in_group(arguments[0]);
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    while (rmdir(folder) != 0) /* until the system has forgotten the process */
        usleep(1000);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
