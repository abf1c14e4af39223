/* Every place in the library's code from which memory, a thread or a key is asked of the system, or
 * memory given back, fails in turn: always, the first time, all times but the first. The linker
 * leads the calls here, and the address that a call returns to says which place it is. What comes
 * to be called only because another call failed is found in that run, and then fails together with
 * it.
 *
 * On stdout: the places that failed, as addresses in the program file. every_site.sh holds them
 * against all there are. */
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/threads.h"
#include "requests.h"

enum { MOST_SITES = 128, MOST_TOGETHER = 8, UNIT = 4096 };
enum mode { ALWAYS, FIRST, LATER, ELSEWHERE, MODES };

typedef struct {
    uintptr_t address; /* in the program file */
    unsigned calls, failures;
    bool tried;
    bool in_vain; /* it was not called when it should have failed */
    bool maps;    /* it asks for a mapping, which may come elsewhere */
} Site;

/* Shared with the children: the places that were seen, and which fail now. */
typedef struct {
    _Atomic unsigned lock;
    unsigned count;
    Site sites[MOST_SITES];
    unsigned failing_count;
    uintptr_t failing[MOST_TOGETHER];
    enum mode mode;
} Shared;

static Shared *shared;
extern const char __ehdr_start[]; /* the first byte of the program file, by the linker */

void *__real_mmap(void *start, size_t size, int access, int flags, int file, off_t offset);

/* ---- in the child ---- */

/* The library starts before main does. */
static bool is_child(void) {
    const char *file = getenv("TEST_SHARED_FILE");
    if (!shared && file)
        shared =
            __real_mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(file), 0);
    return file != NULL;
}

static void lock_sites(void) {
    unsigned free_state = 0;
    while (!atomic_compare_exchange_weak(&shared->lock, &free_state, 1))
        free_state = 0;
}

static Site *site_at(uintptr_t address) {
    for (unsigned i = 0; i < shared->count; i++)
        if (shared->sites[i].address == address)
            return &shared->sites[i];
    CHECK(shared->count < MOST_SITES);
    shared->sites[shared->count].address = address;
    return &shared->sites[shared->count++];
}

/* Of places that fail together all but the last always do. */
static bool is_failing(const Site *site) {
    unsigned last = shared->failing_count - 1;
    for (unsigned i = 0; i < shared->failing_count; i++)
        if (shared->failing[i] == site->address)
            return i < last || (shared->mode == FIRST   ? site->calls == 1
                                : shared->mode == LATER ? site->calls > 1
                                                        : true);
    return false;
}

static bool fails(const void *return_address, bool maps) {
    if (!is_child())
        return false;
    lock_sites();
    Site *site = site_at((uintptr_t)return_address - (uintptr_t)__ehdr_start);
    site->maps = maps;
    site->calls++;
    bool now = is_failing(site);
    site->failures += now;
    atomic_store(&shared->lock, 0);
    errno = now ? ENOMEM : errno;
    return now;
}
#define FAILS fails(__builtin_return_address(0), false)

/* LED(type, function, parameters, arguments, refusal) */
#define LED(type, name, parameters, arguments, refusal)                                            \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters {                                                                \
        return FAILS ? (refusal) : __real_##name arguments;                                        \
    }

LED(void *, hak_os_reserve, (size_t size, size_t align), (size, align), NULL)
LED(int, hak_os_commit, (void *start, size_t size, int is_reserved), (start, size, is_reserved),
    0) /* HAK_REFUSED */
LED(bool, hak_os_purge, (void *start, size_t size), (start, size), false)
LED(bool, hak_os_offer, (void *start, size_t size), (start, size), false)
#pragma weak __real_hak_os_protect /* the guard variant alone has it */
LED(bool, hak_os_protect, (void *start, size_t size), (start, size), false)
#pragma weak __real_hak_os_unprotect
LED(bool, hak_os_unprotect, (void *start, size_t size), (start, size), false)
LED(void *, hak_os_map, (size_t size, size_t align), (size, align), NULL)
LED(void *, hak_os_remap, (void *start, size_t size, size_t new_size), (start, size, new_size),
    NULL)
LED(void *, hak_os_move_out, (void *from, size_t size, size_t new_size), (from, size, new_size),
    NULL)
LED(int, mprotect, (void *start, size_t size, int access), (start, size, access), -1)
LED(int, madvise, (void *start, size_t size, int advice), (start, size, advice), -1)
LED(int, munmap, (void *start, size_t size), (start, size), -1)
LED(int, mincore, (void *start, size_t size, unsigned char *pages), (start, size, pages), -1)
LED(int, pthread_key_create, (unsigned *key, void (*end)(void *)), (key, end), EAGAIN)
LED(int, pthread_setspecific, (unsigned key, const void *value), (key, value), ENOMEM)
LED(int, pthread_atfork, (void (*before)(void), void (*parent)(void), void (*child)(void)),
    (before, parent, child), ENOMEM)
LED(int, pthread_attr_init, (void *attributes), (attributes), ENOMEM)
LED(int, pthread_attr_setsigmask_np, (void *attributes, const void *signals), (attributes, signals),
    ENOMEM)
LED(int, pthread_create,
    (void *thread, const void *attributes, void *(*body)(void *), void *argument),
    (thread, attributes, body, argument), EAGAIN)
LED(int, hak_os_huge_pages, (void *start, size_t size, int mode), (start, size, mode), 0) /* void */

/* Elsewhere: not where a large mapping is aligned, nor where it was asked for, as by a kernel that
 * takes MAP_FIXED_NOREPLACE for a hint. */
void *__wrap_mmap(void *start, size_t size, int access, int flags, int file, off_t offset);
void *__wrap_mmap(void *start, size_t size, int access, int flags, int file, off_t offset) {
    if (!fails(__builtin_return_address(0), true))
        return __real_mmap(start, size, access, flags, file, offset);
    if (shared->mode != ELSEWHERE)
        return MAP_FAILED;
    char *place =
        __real_mmap(NULL, size + UNIT, access, flags & ~MAP_FIXED_NOREPLACE, file, offset);
    if (place == MAP_FAILED)
        return MAP_FAILED;
    __real_munmap(place, UNIT);
    return place + UNIT;
}

void *__wrap_mremap(void *from, size_t old_size, size_t size, int flags, ...);
void *__real_mremap(void *from, size_t old_size, size_t size, int flags, ...);
void *__wrap_mremap(void *from, size_t old_size, size_t size, int flags, ...) {
    va_list more;
    va_start(more, flags);
    void *to = va_arg(more, void *);
    va_end(more);
    if (!FAILS)
        return __real_mremap(from, old_size, size, flags, to);
    return MAP_FAILED;
}

/* ---- in the parent ---- */

static bool run(const char *program, const char *lazily) {
    int status;
    atomic_store(&shared->lock, 0); /* a process that ended beside its purge thread left it held */
    for (unsigned i = 0; i < shared->count; i++)
        shared->sites[i].calls = 0;
    pid_t child = fork();
    if (child == 0) {
        setenv("HAKMEM_PURGE_LAZILY", lazily, 1);
        execl(program, program, "child", NULL);
        _exit(2);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool a_mapping_fails(void) {
    for (unsigned i = 0; i < shared->failing_count; i++)
        if (site_at(shared->failing[i])->maps)
            return true;
    return false;
}

/* Whether this mode does what another has done: a call that came once when it always failed has no
 * second time, and what is no mapping cannot come elsewhere. */
static bool repeats(enum mode mode, unsigned calls) {
    return (mode == FIRST && calls == 1) || (mode == ELSEWHERE && !a_mapping_fails());
}

static unsigned run_each_mode(const char *program, const char *lazily, const Site *site) {
    unsigned bad = 0, calls = 0;
    for (shared->mode = 0; shared->mode < MODES; shared->mode++) {
        if (repeats(shared->mode, calls))
            continue;
        bool ended_well = run(program, lazily);
        calls = shared->mode == ALWAYS ? site->calls : calls;
        if (ended_well)
            continue;
        bad++;
        say("mode %d, lazily %s:", shared->mode, lazily);
        for (unsigned i = 0; i < shared->failing_count; i++)
            say("  the call before %zx fails", (size_t)shared->failing[i]);
    }
    return bad;
}

/* A new one; or one that had been called by chance, as the guard's are, and is called again. */
static bool is_to_be_tried(const Site *site, bool is_new) {
    return site->tried ? site->in_vain && site->calls != 0 : is_new;
}

/* Each place from number `first` on that was not tried yet; those that come to light meanwhile,
 * together with the one that led to them. */
static unsigned explore(unsigned first, const char *program, const char *lazily) {
    unsigned bad = 0;
    for (unsigned i = 0; i < shared->count; i++) {
        Site *site = &shared->sites[i];
        unsigned known = shared->count;
        if (!is_to_be_tried(site, i >= first) || shared->failing_count == MOST_TOGETHER)
            continue;
        site->tried = true;
        site->in_vain = false;
        shared->failing[shared->failing_count++] = site->address;
        bad += run_each_mode(program, lazily, site) + explore(known, program, lazily);
        shared->failing_count--;
        site->in_vain = site->failures == 0;
    }
    return bad;
}

static void share(void) {
    char number[12];
    int file = memfd_create("sites", 0);
    CHECK(file >= 0 && ftruncate(file, sizeof *shared) == 0);
    snprintf(number, sizeof number, "%d", file);
    setenv("TEST_SHARED_FILE", number, 1);
    CHECK(is_child() && shared != MAP_FAILED);
    setenv("HAKMEM_RESERVE", "16", 1);
    setenv("HAKMEM_PURGE_DELAY", "0", 1);
    setenv("HAKMEM_PURGE_THREAD", "1", 1);
}

int main(int count, char **arguments) {
    unsigned bad = 0;
    if (count == 2) {
        hang_limit();
        requests_run();
        requests_run_rare();
        requests_run();
        return 0;
    }
    share();
    for (int lazily = 0; lazily < 2; lazily++) {
        CHECK(run(arguments[0], lazily ? "1" : "0"));
        bad += explore(0, arguments[0], lazily ? "1" : "0");
    }
    for (unsigned i = 0; i < shared->count; i++)
        if (shared->sites[i].failures != 0)
            printf("%zx\n", (size_t)shared->sites[i].address);
    CHECK_THAT(bad == 0, "%u runs ended badly", bad);
    return 0;
}
