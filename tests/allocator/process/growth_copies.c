/* Blocks that grow to less than 32 MiB are copied: moving their pages would take longer, since the
 * next one finds none. Larger ones are moved. Where address space or memory is limited, a mapping
 * that grows needs what is added alone. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "../support/check.h"
#include "../support/threads.h"

enum { MIB = 1 << 20, TIMES = 20, TEXT = 1 << 20 };

static void find(const char *name, void *function) {
    void *address = dlsym(RTLD_DEFAULT, name);
    CHECK(address);
    memcpy(function, &address, sizeof address);
}

static unsigned long moves(void) {
    static char text[TEXT];
    static const char name[] = "\"blocks_moved\":";
    size_t (*stats_json)(char *, size_t);
    find("hak_stats_json", &stats_json);
    CHECK(stats_json(text, sizeof text) < sizeof text);
    const char *at = strstr(text, name);
    CHECK(at);
    return strtoul(at + sizeof name - 1, NULL, 10);
}

static void grow(size_t from, size_t to, size_t step, size_t factor) {
    char *block = malloc(from);
    CHECK(block);
    memset(block, 1, from);
    for (size_t size = from; size < to;) {
        size_t more = size * factor + step;
        block = realloc(block, more);
        CHECK(block && block[0] == 1 && block[size - 1] == 1);
        memset(block + size, 1, more - size);
        size = more;
    }
    free(block);
}

/* Below a limit of 4 GiB. False: the machine has no such memory. */
static bool grows_to_3_gib(void) {
    char *block = malloc((size_t)2048 * MIB);
    if (!block)
        return false;
    block[0] = 1;
    for (size_t size = 2048; size <= 3072; size += 256) {
        block = realloc(block, size * MIB + 1);
        CHECK_THAT(block, "%zu MiB are refused below a limit of 4096", size);
        CHECK(block[0] == 1);
    }
    CHECK(!realloc(block, (size_t)5000 * MIB) && block[0] == 1);
    block = realloc(block, (size_t)1500 * MIB);
    CHECK(block && block[0] == 1);
    free(block);
    return true;
}

static void grows_within_a_limit(void) {
    struct rlimit limit = {(rlim_t)4096 * MIB, RLIM_INFINITY};
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    grows_to_3_gib();
    limit.rlim_cur = RLIM_INFINITY;
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
}

/* And all of it can be had again. */
static void grows_within_a_limit_of_ours(void) {
    int (*set)(const char *, const char *);
    find("hak_policy_set", &set);
    CHECK(set("hard_limit", "4G") == 0);
    if (grows_to_3_gib()) {
        void *all = malloc((size_t)4090 * MIB);
        CHECK(all);
        free(all);
    }
    CHECK(set("hard_limit", "0") == 0);
}

int main(void) {
    hang_limit();
    grows_within_a_limit();
    grows_within_a_limit_of_ours();
    for (int i = 0; i < TIMES; i++) {
        grow((size_t)3 * MIB, (size_t)7 * MIB, MIB, 1);
        grow(MIB, (size_t)16 * MIB, 0, 2);
    }
    CHECK_THAT(moves() == 0, "%lu of these blocks were moved", moves());
    grow(MIB, (size_t)256 * MIB, 0, 2);
    CHECK(moves() > 0);
    return 0;
}
