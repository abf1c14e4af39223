/* A program changes how long freed memory waits while it runs; one that knows nothing is told to by
 * a signal, and reads its file again, also while it sleeps if it has a purge thread. Memory that
 * was kept for ever then goes back. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/memory.h"
#include "../support/threads.h"
#include "hakmem.h"

enum { BLOCKS = 64, SIZE = 1 << 20, FREED_KIB = BLOCKS * (SIZE >> 10) };

static __typeof__(&hak_policy_set) set;
static __typeof__(&hak_policy_get) get;

static char path[] = "/tmp/hakmem-conf-XXXXXX";

static void write_file(const char *content) {
    int file = open(path, O_WRONLY | O_TRUNC);
    CHECK(file >= 0 && write(file, content, strlen(content)) == (ssize_t)strlen(content));
    close(file);
}

static size_t resident_kib(void) {
    return rss_kib();
}

static void fill_and_free(void) {
    static char *blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        CHECK(blocks[i] = malloc(SIZE));
        memset(blocks[i], 1, SIZE);
    }
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
}

/* Comes by the slow paths until the memory is back: hang_limit ends the program otherwise. */
static void wait_until_back(size_t full) {
    while (resident_kib() > full - FREED_KIB / 2) {
        free(malloc(SIZE));
        free(malloc(2 * SIZE));
        usleep(1000);
    }
}

static size_t value_of(const char *name) {
    size_t value;
    CHECK(get(name, &value) == 0);
    return value;
}

static void by_the_program(void) {
    size_t value;
    CHECK(set("purge_delay", "3600000") == 0);
    fill_and_free();
    size_t full = resident_kib();
    CHECK(set("purge_delay", "20") == 0 && value_of("purge_delay") == 20);
    wait_until_back(full);
    CHECK(set("no_such", "1") == ENOENT && get("no_such", &value) == ENOENT);
    CHECK(set("purge_delay", "-1") == EINVAL && set("reserve", "64") == EPERM);
    CHECK(value_of("purge_delay") == 20);
}

static void by_a_signal(void) {
    CHECK(set("purge_delay", "3600000") == 0);
    fill_and_free();
    size_t full = resident_kib();
    write_file("purge_delay=30\n");
    CHECK(raise(SIGUSR1) == 0);
    while (value_of("purge_delay") != 30) /* the file is read on a slow path of some thread */
        fill_and_free();
    wait_until_back(full);
}

/* While the program sleeps its purge thread reads the file. */
static void by_a_signal_asleep(void) {
    CHECK(set("purge_delay", "3000000") == 0 && set("purge_thread", "1") == 0);
    fill_and_free();
    usleep(200000); /* it sleeps until the end of the epoch */
    write_file("purge_delay=40\npurge_thread=0\n");
    CHECK(raise(SIGUSR1) == 0);
    while (value_of("purge_delay") != 40)
        usleep(1000);
}

/* The library reads its options at the start: the program runs itself again with them. */
static void run_with_file(char *program) {
    char conf[128], signal_number[8];
    int file = mkstemp(path);
    CHECK(file >= 0);
    close(file);
    snprintf(conf, sizeof conf, "file=%s", path);
    snprintf(signal_number, sizeof signal_number, "%d", SIGUSR1);
    setenv("HAKMEM_CONF", conf, 1);
    setenv("HAKMEM_CONF_SIGNAL", signal_number, 1);
    execl(program, program, path, NULL);
    CHECK_THAT(false, "cannot run %s", program);
}

int main(int count, char **arguments) {
    hang_limit();
    if (count == 1)
        run_with_file(arguments[0]);
    strcpy(path, arguments[1]);
    set = (__typeof__(set))dlsym(RTLD_DEFAULT, "hak_policy_set");
    get = (__typeof__(get))dlsym(RTLD_DEFAULT, "hak_policy_get");
    CHECK(set && get);
    by_the_program();
    by_a_signal();
    by_a_signal_asleep();
    return unlink(path);
}
