/* HAKMEM_PURGE_THREAD=1: memory goes back while the program sleeps and calls nothing of the family;
 * in a forked child, too. The thread that does it has a name, takes no signals, and is gone when
 * nothing waits any more. A system that refuses it is asked again. The program's thread-local data
 * is larger than the small stack that would do for the thread. */
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/memory.h"
#include "../support/threads.h"

enum {
    BLOCKS = 8 * 1024,
    SIZE = 1000,
    LARGE = 4 << 20,
    ROOM = 32 << 20,
    SLACK_KIB = 4 * 1024,
    SECONDS = 60
};

static void *blocks[BLOCKS];
static _Thread_local volatile char of_each_thread[128 * 1024];

/* 8 MiB of small blocks and a large one come and go: not so much that they would go at once. */
static size_t use_memory(void) {
    char *large = malloc(LARGE);
    CHECK(large);
    memset(large, 1, LARGE);
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(SIZE);
        CHECK(blocks[i]);
        memset(blocks[i], 1, SIZE);
    }
    size_t used = rss_kib();
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    free(large);
    return used;
}

static void goes_back_asleep(size_t before) {
    size_t used = use_memory(), now = used;
    for (int tenths = 0; tenths < 10 * SECONDS && now > before + SLACK_KIB; tenths++) {
        sleep_ms(100);
        now = rss_kib();
    }
    CHECK_THAT(now <= before + SLACK_KIB, "RSS %zu -> %zu -> %zu KiB", before, used, now);
}

/* The number of a task of this name, in text; "" when there is none. opendir allocates, once. */
static const char *task_called(DIR *tasks, const char *name) {
    static char path[64], text[32], number[16];
    rewinddir(tasks);
    for (struct dirent *task; (task = readdir(tasks)) != NULL;) {
        snprintf(path, sizeof path, "/proc/self/task/%.10s/comm", task->d_name);
        int file = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t got = file >= 0 ? read(file, text, sizeof text - 1) : 0;
        if (file >= 0)
            close(file);
        text[got > 0 ? got : 0] = '\0';
        if (strncmp(text, name, strlen(name)) == 0)
            return memcpy(number, task->d_name, sizeof number);
    }
    return "";
}

/* All signals but those that cannot be blocked, and the two of libc's own. False when the task is
 * gone: we may have had no processor for longer than it waits for work. */
static bool takes_no_signals(const char *task) {
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/self/task/%s/status", task);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file >= 0 ? read(file, text, sizeof text - 1) : 0;
    if (file >= 0)
        close(file);
    if (got <= 0)
        return false;
    text[got] = '\0';
    const char *blocked = strstr(text, "SigBlk:");
    CHECK(blocked);
    unsigned long mask = strtoul(blocked + 7, NULL, 16);
    unsigned long wanted = ~(1UL << 8 | 1UL << 18 | 1UL << 31 | 1UL << 32);
    CHECK_THAT((mask & wanted) == wanted, "blocked: %lx", mask);
    return true;
}

static bool appears(DIR *tasks, int tenths) {
    for (; tenths > 0; tenths--) {
        use_memory();
        if (*task_called(tasks, "hakmem-purge"))
            return true;
        sleep_ms(100);
    }
    return false;
}

static void comes_and_goes(void) {
    DIR *tasks = opendir("/proc/self/task");
    CHECK(tasks);
    do
        CHECK_THAT(appears(tasks, 10 * SECONDS), "no thread of that name");
    while (!takes_no_signals(task_called(tasks, "hakmem-purge")));
    for (int tenths = 0; tenths < 10 * SECONDS && *task_called(tasks, "hakmem-purge"); tenths++)
        sleep_ms(100);
    CHECK_THAT(!*task_called(tasks, "hakmem-purge"), "it is still there");
    closedir(tasks);
}

/* First of all: later on libc has the stack of an ended thread ready, and needs no memory for it.
 * The heap lives on what it has already. */
static void is_asked_again(void) {
    struct rlimit limit, none;
    void *room = malloc(ROOM);
    DIR *tasks = opendir("/proc/self/task");
    CHECK(tasks && getrlimit(RLIMIT_AS, &limit) == 0);
    none = (struct rlimit){1, limit.rlim_max};
    CHECK(setrlimit(RLIMIT_AS, &none) == 0);
    free(room);
    CHECK(!appears(tasks, 15));
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    CHECK_THAT(appears(tasks, 10 * SECONDS), "it was not asked again");
    closedir(tasks);
}

int main(void) {
    of_each_thread[0] = 1;
    if (calls_are_filtered()) {
        say("nothing is taken from threads that sleep under a filter of system calls");
        return SKIPPED;
    }
    is_asked_again();
    size_t before = rss_kib();
    goes_back_asleep(before);
    pid_t child = fork();
    if (child == 0) {
        goes_back_asleep(rss_kib());
        _exit(0);
    }
    child_must_succeed(child);
    comes_and_goes();
    return 0;
}
