/* Where the system refuses to shorten a block apart, because it grants no further mapping, the
 * block counts as long as it is: also if another thread asks for memory meanwhile. What is counted
 * too little would be given back once too often. Less than nothing in use reads as more than all.
 *
 * What is freed at an odd address within a freed block is no block.
 *
 * A signal handler may fork while a block gets another size: its child counts the block once. */
#include "include/hakmem.h"
#include "os/os.h"
#include "pages/apart.h"

#include <unistd.h>

#include "../support/check.h"
#include "../support/threads.h"

enum { MIB = 1 << 20 };

void *__wrap_hak_os_remap(void *start, size_t size, size_t new_size);

static void *other;
static bool forks; /* once, as a handler of signals would */
static pid_t child;

void *__wrap_hak_os_remap(void *start, size_t size, size_t new_size) {
    (void)start, (void)size, (void)new_size;
    if (forks) {
        forks = false;
        child = fork();
        return NULL;
    }
    other = hak_malloc((size_t)1536 * MIB);
    return NULL;
}

static void an_odd_address_is_no_block(void) {
    char *block = hak_malloc((size_t)1024 * MIB);
    hak_free(block);
    for (int i = 0; block && i < 4; i++)
        CHECK_THAT(!hak_apart_give(block + i) && hak_apart_size(block + i) == 0, "byte %d", i);
}

static void fork_within_a_resize(void) {
    char *block = hak_malloc((size_t)2048 * MIB);
    forks = true;
    CHECK(hak_realloc(block, (size_t)1280 * MIB) == block && child >= 0);
    hak_free(block);
    CHECK((block = hak_malloc((size_t)3000 * MIB)) != NULL);
    CHECK(!hak_malloc((size_t)1024 * MIB));
    hak_free(block);
    if (child == 0)
        _exit(0);
    child_must_succeed(child);
}

int main(void) {
    hang_limit();
    an_odd_address_is_no_block();
    CHECK(hak_policy_set("hard_limit", "3100M") == 0);
    char *block = hak_malloc((size_t)2048 * MIB);
    if (!block)
        return SKIPPED; /* the machine has no such memory */
    CHECK(hak_realloc(block, (size_t)1280 * MIB) == block);
    CHECK_THAT(!other, "3,584 MiB below a limit of 3,100");
    hak_free(block);
    hak_free(other);
    CHECK((block = hak_malloc(MIB)) != NULL);
    hak_free(block);
    CHECK((block = hak_malloc((size_t)3000 * MIB)) != NULL);
    CHECK(!hak_malloc((size_t)1024 * MIB));
    hak_free(block);
    fork_within_a_resize();
    return 0;
}
