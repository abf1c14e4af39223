/* Huge pages for huge blocks: after one that was full, for so many pages more, and never for what a
 * sparse one keeps when it is freed. How full a block is the test says itself. */
#include "pages/dense.h"

#include "front/usage.h"
#include "include/hakmem.h"
#include "os/os.h"
#include "pages/range.h"
#include "policy/policy.h"

#include <string.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/memory.h"
#include "../support/threads.h"

#define MIB ((size_t)1 << 20)
enum { SIZE_MIB = 64, SHARE = 8, MOST = 24 };

static bool full;
size_t __wrap_hak_os_resident(void *start, size_t size);
size_t __wrap_hak_os_resident(void *start, size_t size) {
    (void)start;
    return full ? size : 0;
}

static bool is_huge(const void *block) {
    return hak_dense_holds(hak_run_of(block));
}

static char *come(size_t mib) {
    char *block = hak_malloc(mib * MIB);
    CHECK(block != NULL);
    block[0] = block[mib * MIB - 1] = 1;
    return block;
}

static void free_all(char **blocks) {
    for (size_t i = 0; i < MOST; i++) {
        hak_free(blocks[i]);
        blocks[i] = NULL;
    }
    hak_purge();
}

static void after_an_empty_one_there_are_none(void) {
    char *blocks[MOST] = {NULL};
    full = false;
    for (size_t i = 0; i < MOST; i++) {
        blocks[i] = come(SIZE_MIB);
        CHECK_THAT(!is_huge(blocks[i]), "block %zu", i);
    }
    free_all(blocks);
}

/* The first one shows that the program may fill its blocks, and stands for two more; a second one
 * shows that it does. After eight more, another one has to. */
static void one_in_nine_is_the_probe(void) {
    char *blocks[MOST] = {NULL};
    size_t small = 0, since = 0;
    full = true;
    for (size_t i = 0; i < MOST; i++) {
        blocks[i] = come(SIZE_MIB);
        since = is_huge(blocks[i]) ? since + 1 : 0;
        small += !is_huge(blocks[i]);
        CHECK_THAT(since <= SHARE, "%zu in a row", since);
    }
    CHECK_THAT(small >= 1 && small <= 1 + MOST / SHARE, "%zu of %d", small, MOST);
    free_all(blocks);
}

/* The table of a program may be full, and its other blocks hardly used. */
static void one_full_block_stands_for_two_more(void) {
    char *blocks[MOST] = {NULL};
    size_t huge = 0;
    for (size_t i = 0; i < MOST; i++) {
        full = i == 1 || i == 2; /* so the first one is, while it is the probe */
        blocks[i] = come(SIZE_MIB);
        huge += is_huge(blocks[i]);
    }
    CHECK_THAT(huge <= SHARE / 4, "%zu blocks behind a full one have huge pages", huge);
    free_all(blocks);
}

/* What full blocks say holds for eight times their pages, and not for a block longer than that.
 */
static void a_much_longer_block_is_a_probe(void) {
    char *blocks[MOST] = {NULL};
    full = false;
    blocks[0] = come(16);
    full = true;
    blocks[1] = come(16 * SHARE * 2);
    CHECK(!is_huge(blocks[1]));
    free_all(blocks);
}

/* Fills the list of blocks up to one that has huge pages. Returns where that one is in it. */
static char **come_huge(char **blocks) {
    full = true;
    for (char **block = blocks; block < blocks + MOST; block++) {
        *block = come(SIZE_MIB);
        if (is_huge(*block))
            return block;
    }
    CHECK_THAT(false, "none of %d blocks has huge pages", MOST);
    return NULL;
}

static void a_sparse_one_keeps_nothing(void) {
    char *blocks[MOST] = {NULL}, *block = *come_huge(blocks);
    const hak_slab *run = hak_run_of(block);
    for (size_t at = 0; at < SIZE_MIB * MIB; at += 2 * MIB)
        block[at] = 1;
    full = false;
    free_all(blocks);
    CHECK(!hak_dense_holds(run));
    size_t left = resident_bytes((const void *)run->start, SIZE_MIB * MIB);
    CHECK_THAT(left == 0, "%zu bytes", left);
    CHECK(hak_usage_is_valid());
}

/* The first full one for a while, and more than may wait: it goes to the system at once. */
static void a_full_one_that_goes_leaves_small_pages(void) {
    char *blocks[MOST] = {NULL}, **last = come_huge(blocks), *block = *last;
    const hak_slab *run = hak_run_of(block);
    for (size_t at = 0; at < SIZE_MIB * MIB; at += 2 * MIB)
        block[at] = 1;
    *last = NULL;
    free_all(blocks);
    CHECK(hak_policy_set("purge_delay", "1") == 0);
    sleep_ms(10);
    hak_free(block);
    CHECK(hak_policy_set("purge_delay", "500") == 0);
    CHECK(!hak_dense_holds(run));
    size_t left = resident_bytes((const void *)run->start, SIZE_MIB * MIB);
    CHECK_THAT(left == 0, "%zu bytes", left);
    CHECK(hak_usage_is_valid());
}

static void grows_in_place(void) {
    char *blocks[MOST] = {NULL}, **block = come_huge(blocks);
    for (size_t mib = SIZE_MIB; mib <= (size_t)6 * SIZE_MIB; mib += 40) {
        *block = hak_realloc(*block, mib * MIB);
        CHECK(*block != NULL && (*block)[0] == 1);
        (*block)[mib * MIB - 1] = 1;
    }
    CHECK(hak_usage_is_valid());
    free_all(blocks);
}

static void goes_on_in_a_child(void) {
    char *blocks[MOST] = {NULL}, *block = *come_huge(blocks);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(is_huge(block) && block[0] == 1);
        free_all(blocks);
        (*come_huge(blocks))[MIB] = 1;
        free_all(blocks);
        CHECK(hak_usage_is_valid());
        _exit(0);
    }
    child_must_succeed(child);
    CHECK(is_huge(block) && block[0] == 1);
    free_all(blocks);
}

int main(void) {
    CHECK(hak_policy_now()->huge_pages == HAK_HUGE_DENSE);
    after_an_empty_one_there_are_none();
    one_in_nine_is_the_probe();
    one_full_block_stands_for_two_more();
    a_much_longer_block_is_a_probe();
    a_sparse_one_keeps_nothing();
    a_full_one_that_goes_leaves_small_pages();
    grows_in_place();
    goes_on_in_a_child();
    CHECK(hak_usage_is_valid());
    return 0;
}
