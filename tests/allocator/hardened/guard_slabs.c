/* HAKMEM_GUARD_SLABS=1: whoever writes on behind a block of a slab of several pages faults before
 * another slab begins; what such slabs leave can be used whole; and where the system allows no more
 * mappings, or private memory is limited, the program goes on without. */
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/threads.h"

static const size_t sizes[] = {6600, 9000, 12000, 20000, 30000, 45000, 57000, 65536};
enum { SIZES = sizeof sizes / sizeof *sizes, BLOCKS = 200, LONGEST = 8 * 65536 };

/* In a child: how a long write behind a block ends. */
static int end_of_write(size_t size, size_t length) {
    pid_t child = fork();
    if (child == 0) {
        char *blocks[BLOCKS];
        for (int i = 0; i < BLOCKS; i++)
            blocks[i] = malloc(size);
        memset(blocks[BLOCKS / 2], 1, size + length);
        _exit(0);
    }
    int status;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    return status;
}

static void long_writes_fault(void) {
    for (size_t i = 0; i < SIZES; i++) {
        int status = end_of_write(sizes[i], LONGEST);
        CHECK_THAT(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "%zu: %d", sizes[i], status);
        status = end_of_write(sizes[i], 0);
        CHECK_THAT(WIFEXITED(status), "%zu: %d", sizes[i], status);
    }
}

static size_t mappings(void) {
    FILE *maps = fopen("/proc/self/maps", "r");
    size_t lines = 0;
    for (int c; maps != NULL && (c = fgetc(maps)) != EOF;)
        lines += c == '\n';
    CHECK(maps != NULL && fclose(maps) == 0);
    return lines;
}

/* Blocks of each size and large ones in turn: so pages that were closed lie within others. */
static void use_in_turn(void) {
    char *blocks[BLOCKS];
    for (size_t round = 0; round < 40; round++) {
        size_t size = round % 3 == 2 ? 100000 * (1 + round) : sizes[round % SIZES];
        int count = round % 3 == 2 ? 10 : BLOCKS;
        for (int i = 0; i < count; i++) {
            blocks[i] = round % 2 != 0 ? calloc(1, size) : malloc(size);
            CHECK_THAT(round % 2 == 0 || (blocks[i][0] == 0 && blocks[i][size - 1] == 0), "%zu",
                       size);
            memset(blocks[i], 1, size);
        }
        for (int i = 0; i < count; i++)
            free(blocks[i]);
    }
}

static void what_ends_is_open_again(void) {
    use_in_turn();
    malloc_trim(0);
    size_t before = mappings();
    for (int i = 0; i < 10; i++) {
        use_in_turn();
        malloc_trim(0);
    }
    CHECK_THAT(mappings() <= before + 20, "%zu, %zu before", mappings(), before);
}

static void *in_a_thread(void *unused) {
    use_in_turn();
    return unused;
}

/* Every second page of a mapping of ours, until the system refuses. */
static void use_up_mappings(void) {
    enum { MANY = 1 << 18 };
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *all = mmap(NULL, MANY * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(all != MAP_FAILED);
    for (size_t i = 0; i < MANY; i += 2)
        if (mprotect(all + i * page, page, PROT_NONE) != 0)
            return;
}

static void without_mappings(void) {
    char *guarded[BLOCKS];
    for (int i = 0; i < BLOCKS; i++)
        guarded[i] = malloc(sizes[i % SIZES]);
    use_up_mappings();
    for (int i = 0; i < BLOCKS; i++)
        free(guarded[i]);
    use_in_turn();
    malloc_trim(0);
    use_in_turn();
}

/* Under a limit of private memory the system would not open the pages again: there are none then,
 * and what was freed makes room for others. */
static void under_a_limit(void) {
    enum { MIB = 1 << 20 };
    static char *blocks[8 * 1024];
    struct rlimit limit = {64 * MIB, 64 * MIB};
    size_t count = 0;
    CHECK(setrlimit(RLIMIT_DATA, &limit) == 0);
    while (count < sizeof blocks / sizeof *blocks && (blocks[count] = malloc(9000)) != NULL)
        memset(blocks[count++], 1, 9000);
    while (count > 0)
        free(blocks[--count]);
    char *block = malloc(24 * MIB);
    CHECK(block != NULL);
    free(memset(block, 1, 24 * MIB));
}

static void in_a_child(void (*body)(void)) {
    pid_t child = fork();
    if (child == 0) {
        body();
        _exit(0);
    }
    child_must_succeed(child);
}

int main(void) {
    in_a_child(under_a_limit);
    long_writes_fault();
    what_ends_is_open_again();
    pthread_t thread = thread_start(in_a_thread, NULL);
    use_in_turn();
    thread_join(thread);
    in_a_child(without_mappings);
    return 0;
}
