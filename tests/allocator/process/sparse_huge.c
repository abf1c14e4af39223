/* Huge blocks of which little is used keep little when they are freed, in one thread and in two;
 * also in a program that was started by a much larger one, whose highest resident memory the system
 * counts as its own. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/memory.h"
#include "../support/random.h"

#define MIB ((size_t)1 << 20)
/* An eighth of the starter would be 64 MiB. A thread that loses its processor in the middle of a
 * purge lets the other one run ahead for as long: so what holds is looked at often, and has to hold
 * most of the time. */
enum { LIVE = 8, STEPS = 20000 / TEST_SHARE, STARTER_MIB = 512, MOST_KIB = 48 << 10, EVERY = 32 };

static size_t most_kib; /* constant */
static _Atomic size_t looks, looks_above;

static void look(void) {
    looks++;
    looks_above += rss_kib() > most_kib;
}

static void *replace_blocks(void *seed) {
    Random random = random_from((uintptr_t)seed);
    char *live[LIVE] = {NULL};
    for (int i = 0; i < STEPS; i++) {
        size_t at = random_below(&random, LIVE), size = (8 + random_below(&random, 120)) * MIB;
        free(live[at]);
        CHECK((live[at] = malloc(size)) != NULL);
        live[at][0] = live[at][size - 1 - random_below(&random, (uint32_t)MIB)] = 1;
        if (i % EVERY == 0)
            look();
    }
    for (int i = 0; i < LIVE; i++)
        free(live[i]);
    return NULL;
}

static int run_started(void) {
    size_t before = rss_kib();
    most_kib = before + MOST_KIB;
    replace_blocks((void *)1);
    pthread_t other;
    CHECK(pthread_create(&other, NULL, replace_blocks, (void *)2) == 0);
    replace_blocks((void *)3);
    CHECK(pthread_join(other, NULL) == 0);
    CHECK_THAT(looks_above < looks / 4, "above %zu KiB in %zu of %zu looks, %zu KiB before",
               most_kib, (size_t)looks_above, (size_t)looks, before);
    CHECK_THAT(rss_kib() < most_kib, "%zu KiB at the end, %zu before", rss_kib(), before);
    return 0;
}

int main(int count, char **arguments) {
    (void)count;
    if (arguments[1] != NULL)
        return run_started();
    char *large =
        mmap(NULL, STARTER_MIB * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(large != MAP_FAILED);
    memset(large, 1, STARTER_MIB * MIB);
    char program[] = "/proc/self/exe", started[] = "started";
    execv(program, (char *[]){program, started, NULL});
    check_failed(__FILE__, __LINE__, "execv");
}
