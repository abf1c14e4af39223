/* The public header: hak_ names and libc's names are one allocator, and what it adds works. */
#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "../support/check.h"
#include "../support/memory.h"
#include "hakmem.h"

enum { BLOCKS = 50000, BLOCK_SIZE = 600, MIB = 1 << 20 };
static void *blocks[BLOCKS];

/* The test is not linked with the library: the preloaded one answers. */
#define CALL(name) ((__typeof__(&name))function(#name))

static void *function(const char *name) {
    void *address = dlsym(RTLD_DEFAULT, name);
    CHECK_THAT(address, "%s is not exported", name);
    return address;
}

static void both_names_share_a_heap(void) {
    free(CALL(hak_malloc)(100));
    CALL(hak_free)(malloc(100));
    CALL(hak_free)(CALL(hak_realloc)(calloc(3, 50), 4000));
    free(CALL(hak_memalign)(4096, 10));
    CHECK(CALL(hak_malloc_usable_size)(NULL) == 0);
}

static void usage_follows_the_program(void) {
    hak_usage before, during, after;
    CALL(hak_get_usage)(&before);
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = memset(malloc(BLOCK_SIZE), 1, BLOCK_SIZE);
    void *large = malloc(8 * MIB);
    CALL(hak_get_usage)(&during);
    CHECK_THAT(during.blocks == before.blocks + BLOCKS + 1, "%zu blocks", during.blocks);
    CHECK(during.used - before.used >= (size_t)BLOCKS * BLOCK_SIZE + 8 * MIB);
    CHECK(during.large - before.large >= 8 * MIB);
    CHECK(during.reserved >= during.committed && during.committed >= during.used);
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    free(large);
    CALL(hak_get_usage)(&after);
    CHECK_THAT(after.blocks == before.blocks, "%zu blocks, before %zu", after.blocks,
               before.blocks);
    CHECK_THAT(after.used == before.used, "%zu bytes, before %zu", after.used, before.used);
}

static void purge_gives_memory_back(void) {
    size_t before = (CALL(hak_purge)(), rss_kib());
    void *each[8]; /* little enough to wait for the end of the epoch */
    for (int i = 0; i < 8; i++)
        each[i] = memset(malloc(MIB), 1, MIB);
    for (int i = 0; i < 8; i++)
        free(each[i]);
    size_t given = CALL(hak_purge)();
    CHECK_THAT(given >= 8 * MIB, "%zu bytes", given);
    CHECK_THAT(rss_kib() <= before + 1024, "RSS %zu -> %zu KiB", before, rss_kib());
}

int main(void) {
    both_names_share_a_heap();
    usage_follows_the_program();
    purge_gives_memory_back();
    CHECK(CALL(hak_validate)() == 1);
    const char *version = CALL(hak_version)();
    CHECK_THAT(strcmp(version, TEST_VERSION) == 0, "version '%s'", version);
    return 0;
}
