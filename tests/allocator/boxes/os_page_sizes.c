/* Systems with pages of 16 and 64 KiB: the library is told such a size (the linker leads its calls
 * here), and every call that it makes of the system must keep to it. */
#include "include/hakmem.h"
#include "os/os.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/memory.h"
#include "../support/pattern.h"
#include "../support/random.h"
#include "../support/threads.h"

enum { BLOCKS = 4000, STEPS = 60000 };

static size_t purged, asked;

size_t __wrap_hak_os_page_size(void);
void *__real_hak_os_reserve(size_t size, size_t align);
void *__wrap_hak_os_reserve(size_t size, size_t align);
enum hak_commit __real_hak_os_commit(void *start, size_t size, bool is_reserved);
enum hak_commit __wrap_hak_os_commit(void *start, size_t size, bool is_reserved);
bool __real_hak_os_purge(void *start, size_t size);
bool __wrap_hak_os_purge(void *start, size_t size);
size_t __real_hak_os_resident(void *start, size_t size);
size_t __wrap_hak_os_resident(void *start, size_t size);

/* The program runs itself once for each size: the library asks before main. */
static size_t page_size(void) {
    const char *told = getenv("TEST_PAGE_SIZE");
    return told ? strtoul(told, NULL, 10) : 4096;
}

static void keeps_to_pages(uintptr_t start, size_t size) {
    size_t unit = page_size();
    CHECK_THAT(start % unit == 0 && size % unit == 0 && size != 0, "%zx, %zu bytes", (size_t)start,
               size);
}

size_t __wrap_hak_os_page_size(void) {
    return page_size();
}
void *__wrap_hak_os_reserve(size_t size, size_t align) {
    keeps_to_pages(0, size);
    return __real_hak_os_reserve(size, align);
}
enum hak_commit __wrap_hak_os_commit(void *start, size_t size, bool is_reserved) {
    keeps_to_pages((uintptr_t)start, size);
    return __real_hak_os_commit(start, size, is_reserved);
}
bool __wrap_hak_os_purge(void *start, size_t size) {
    keeps_to_pages((uintptr_t)start, size);
    purged += size;
    return __real_hak_os_purge(start, size);
}

size_t __wrap_hak_os_resident(void *start, size_t size) {
    keeps_to_pages((uintptr_t)start, size);
    asked += size;
    return __real_hak_os_resident(start, size);
}

static struct {
    char *block;
    size_t size;
} live[BLOCKS];

static void step(size_t i, Random *random) {
    if (live[i].block) {
        CHECK(pattern_marked(live[i].block, live[i].size, i));
        hak_free(live[i].block);
        live[i].block = NULL;
        return;
    }
    live[i].size = random_size(random, random_below(random, 50) ? 13 : 23);
    live[i].block = random_below(random, 8) ? hak_malloc(live[i].size) : hak_valloc(live[i].size);
    CHECK(live[i].block && (uintptr_t)live[i].block % 16 == 0);
    pattern_mark(live[i].block, live[i].size, i);
}

static void live_with(size_t unit) {
    Random random = random_from(unit);
    CHECK((uintptr_t)hak_valloc(100) % unit == 0 && (uintptr_t)hak_pvalloc(unit + 1) % unit == 0);
    for (int i = 0; i < STEPS; i++) {
        step(random_below(&random, BLOCKS), &random);
        if (i % (STEPS / 4) == 0)
            hak_purge();
    }
    for (size_t i = 0; i < BLOCKS; i++)
        if (live[i].block)
            step(i, &random);
    size_t before = rss_kib();
    purged = 0;
    CHECK(hak_purge() > 0 && purged > 0 && hak_validate() == 1);
    CHECK_THAT(rss_kib() < before, "RSS %zu -> %zu KiB", before, rss_kib());
}

/* As few faults as huge pages make; of an odd number of pages of 64 KiB, too. */
static void use_little(size_t size) {
    enum { TOUCHED = 100 };
    char *block = hak_malloc(size);
    CHECK(block);
    for (size_t i = 0; i < TOUCHED; i++)
        ((volatile char *)block)[i * 4096] = 1;
    sleep_ms(1);
    asked = 0;
    hak_free(block);
    CHECK_THAT(asked != 0, "%zu bytes are not looked at", size);
}

static void become(const char *program, size_t unit) {
    char told[24];
    snprintf(told, sizeof told, "%zu", unit);
    setenv("TEST_PAGE_SIZE", told, 1);
    execl(program, program, NULL);
    _exit(2);
}

int main(int count, char **arguments) {
    (void)count;
    if (getenv("TEST_PAGE_SIZE")) {
        use_little((size_t)24 << 20);
        use_little(((size_t)24 << 20) + 65536);
        live_with(page_size());
        return 0;
    }
    for (size_t unit = 4096; unit <= 65536; unit *= 4) {
        pid_t child = fork();
        if (child == 0)
            become(arguments[0], unit);
        child_must_succeed(child);
    }
    return 0;
}
