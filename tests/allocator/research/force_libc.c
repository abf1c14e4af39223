/* HAKMEM_FORCE_LIBC=1: research builds send every call to libc, others take no notice. The program
 * runs itself again with the variable, and looks at whose figures move. */
#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../support/check.h"
#include "hakmem.h"

enum { BLOCKS = 1000 };
static void *blocks[5 * BLOCKS];

static void *function(const char *name) {
    void *address = dlsym(RTLD_DEFAULT, name);
    CHECK_THAT(address, "%s is not exported", name);
    return address;
}

static size_t blocks_of_hakmem(void) {
    hak_usage usage;
    ((__typeof__(&hak_get_usage))function("hak_get_usage"))(&usage);
    return usage.blocks;
}

static void allocate_in_all_ways(void) {
    void *(*new_block)(size_t) = (__typeof__(new_block))function("_Znwm");
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[5 * i] = malloc(i);
        blocks[5 * i + 1] = calloc(i, 3);
        blocks[5 * i + 2] = realloc(malloc(10), i + 1);
        blocks[5 * i + 3] = aligned_alloc(64, 64 * (i + 1));
        blocks[5 * i + 4] = new_block(i);
    }
    for (size_t i = 0; i < 5 * BLOCKS; i++) {
        CHECK(blocks[i]);
        memset(blocks[i], 1, malloc_usable_size(blocks[i]));
    }
}

static void free_in_all_ways(void) {
    void (*delete_block)(void *) = (__typeof__(delete_block))function("_ZdlPv");
    for (size_t i = 0; i < 5 * BLOCKS; i++)
        if (i % 5 == 4)
            delete_block(blocks[i]);
        else
            free(blocks[i]);
}

int main(int count, char **arguments) {
    if (count == 1) {
        CHECK(setenv("HAKMEM_FORCE_LIBC", "1", 1) == 0);
        execl(arguments[0], arguments[0], "again", NULL);
        check_failed(__FILE__, __LINE__, "execl");
    }
    const char *expected = getenv("TEST_EXPECTS_LIBC");
    CHECK(expected);
    size_t before = blocks_of_hakmem();
    allocate_in_all_ways();
    size_t during = blocks_of_hakmem();
    free_in_all_ways();
    CHECK(blocks_of_hakmem() <= before + 1);
    if (*expected == '1')
        CHECK_THAT(during == before, "hakmem gave out %zu blocks", during - before);
    else
        CHECK_THAT(during >= before + 5 * BLOCKS, "hakmem gave out %zu blocks", during - before);
    CHECK((dlsym(RTLD_DEFAULT, "hak_get_class_counters") != NULL) == (*expected == '1'));
    return 0;
}
