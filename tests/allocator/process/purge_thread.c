/* HAKMEM_PURGE_THREAD=1: memory goes back while the program sleeps and calls nothing of the family;
 * in a forked child, too. The thread that does it has a name, takes no signals, and rests while
 * nothing waits. It keeps no program alive whose own threads have ended, and is gone when the
 * option is 0. A system that refuses it is asked again. No free starts it. It hears of a shorter
 * delay while it sleeps, and comes when the option is set, also where the program then calls
 * nothing. The program's
 * thread-local data is larger than the small stack that would do for the thread. */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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
    SECONDS = 60,
    THREADS = 400,
    STACK = 512 << 10
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

static void goes_back_within(size_t before, size_t used) {
    size_t now = used;
    for (int tenths = 0; tenths < 10 * SECONDS && now > before + SLACK_KIB; tenths++) {
        sleep_ms(100);
        now = rss_kib();
    }
    CHECK_THAT(now <= before + SLACK_KIB, "RSS %zu -> %zu -> %zu KiB", before, used, now);
}

static void goes_back_asleep(size_t before) {
    goes_back_within(before, use_memory());
}

static void set_named(const char *name, const char *value) {
    int (*set)(const char *, const char *);
    void *address = dlsym(RTLD_DEFAULT, "hak_policy_set");
    CHECK(address);
    memcpy(&set, &address, sizeof address);
    CHECK(set(name, value) == 0);
}

static void set_option(const char *value) {
    set_named("purge_thread", value);
}

/* The thread sleeps until the end of an epoch that is an hour away, almost. */
static void hears_of_a_shorter_delay(size_t before) {
    set_named("purge_delay", "3000000");
    sleep_ms(3000); /* the epoch that ran has ended */
    size_t used = use_memory();
    sleep_ms(200);
    set_named("purge_delay", "50");
    goes_back_within(before, used);
    set_named("purge_delay", "1000");
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

static bool goes(DIR *tasks) {
    for (int tenths = 0; tenths < 10 * SECONDS && *task_called(tasks, "hakmem-purge"); tenths++)
        sleep_ms(100);
    return !*task_called(tasks, "hakmem-purge");
}

static bool comes_unasked(DIR *tasks) {
    set_option("1");
    for (int tenths = 0; tenths < 10 * SECONDS && !*task_called(tasks, "hakmem-purge"); tenths++)
        sleep_ms(100);
    return *task_called(tasks, "hakmem-purge");
}

static void comes_and_goes(void) {
    DIR *tasks = opendir("/proc/self/task");
    CHECK(tasks);
    CHECK_THAT(appears(tasks, 10 * SECONDS), "no thread of that name");
    CHECK(takes_no_signals(task_called(tasks, "hakmem-purge")));
    sleep_ms(1000);
    CHECK_THAT(*task_called(tasks, "hakmem-purge"), "it does not rest");
    set_option("0");
    CHECK_THAT(goes(tasks), "it is still there");
    CHECK_THAT(comes_unasked(tasks), "it did not come again");
    closedir(tasks);
}

static void *do_little(void *unused) {
    free(malloc(100));
    return unused;
}

static void *do_nothing(void *unused) {
    sleep_ms(100);
    return unused;
}

static pthread_t start_in(void *stack, void *(*body)(void *)) {
    pthread_t thread;
    pthread_attr_t attributes;
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstack(&attributes, stack, STACK) == 0);
    CHECK(pthread_create(&thread, &attributes, body, NULL) == 0);
    pthread_attr_destroy(&attributes);
    return thread;
}

/* libc frees what belongs to them while it holds the lock that starting a thread takes. By then
 * nothing has waited for a while. */
static void threads_with_stacks_of_their_own(void) {
    static pthread_t threads[THREADS];
    char *stacks = mmap(NULL, (size_t)THREADS * STACK, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(stacks != MAP_FAILED);
    for (size_t i = 0; i < THREADS; i++)
        threads[i] = start_in(stacks + i * STACK, do_little);
    sleep_ms(3000);
    for (int i = 0; i < THREADS; i++)
        thread_join(threads[i]);
    munmap(stacks, (size_t)THREADS * STACK);
}

/* Who sleeps and knows of nothing but its own end must not be outlived. */
static void process_ends_with_its_last_thread(void) {
    pthread_t thread;
    use_memory();
    CHECK(pthread_create(&thread, NULL, do_nothing, NULL) == 0);
    pthread_exit(NULL);
}

static void goes_back_in_child(void) {
    goes_back_asleep(rss_kib());
}

static void in_a_child(void (*test)(void)) {
    pid_t child = fork();
    if (child == 0) {
        test();
        _exit(0);
    }
    child_must_succeed(child);
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
    set_option("1");
    free(room);
    CHECK(!appears(tasks, 15));
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    CHECK_THAT(appears(tasks, 10 * SECONDS), "it was not asked again");
    closedir(tasks);
}

int main(void) {
    of_each_thread[0] = 1;
    if (nothing_is_taken())
        return SKIPPED;
    is_asked_again();
    size_t before = rss_kib();
    goes_back_asleep(before);
    hears_of_a_shorter_delay(before);
    in_a_child(goes_back_in_child);
    comes_and_goes();
    in_a_child(threads_with_stacks_of_their_own);
    in_a_child(process_ends_with_its_last_thread);
    return 0;
}
