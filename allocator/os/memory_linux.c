#include "os/os.h"

#include "base/bits.h"
#include "os/secret.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

size_t hak_os_page_size(void) {
    static HAK_EARLY size_t size; /* every thread would write the same value */
    size_t known = __atomic_load_n(&size, __ATOMIC_RELAXED);
    if (known == 0) {
        known = (size_t)getauxval(AT_PAGESZ);
        __atomic_store_n(&size, known, __ATOMIC_RELAXED);
    }
    return known;
}

static bool advise(void *start, size_t size, int advice) {
    return HAK_KEEP_ERRNO(madvise(start, size, advice)) == 0;
}

/* ---- address space ---- */

/* Where nothing lies by itself: above what sanitizers and valgrind use, below the mappings that the
 * kernel places from the bottom up, far below those that it places from the top down. */
static const uintptr_t zones[] = {
    [HAK_ZONE_OF_HEAPS] = (uintptr_t)0x110000000000,
    [HAK_ZONE_OF_PAGES] = (uintptr_t)0x170000000000,
    [HAK_ZONES] = (uintptr_t)0x280000000000,
};

/* Steps of a generator that begins with what the kernel gave the process at its start: a forked
 * child goes on where its parent was. */
static uint64_t next_random(void) {
    static HAK_EARLY _Atomic uint64_t state;
    uint64_t seed = hak_given_at_start(0), old = 0;
    atomic_compare_exchange_strong_explicit(&state, &old, seed, memory_order_relaxed,
                                            memory_order_relaxed);
    return hak_mixed(
        atomic_fetch_add_explicit(&state, UINT64_C(0x9e3779b97f4a7c15), memory_order_relaxed));
}

void *hak_os_plan(enum hak_zone zone, size_t size, size_t align) {
    uintptr_t start = zones[zone], end = zones[zone + 1];
    if (size >= end - start)
        return NULL;
    return (void *)hak_round_up(start + next_random() % (end - start - size), align);
}

/* Whether the memory is locked: the system takes no locked memory away. Empties the first page, so
 * it is for memory that holds nothing yet. */
static bool is_locked(void *start) {
    return madvise(start, hak_os_page_size(), MADV_DONTNEED) != 0 && errno == EINVAL;
}

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24 /* Linux 5.18 */
#endif

/* After mlockall(MCL_FUTURE) each mapping that can be written to is backed as a whole at once. What
 * we map is room, of which a program may use little: it is locked, too, but page by page as it is
 * touched. The first mapping after that call is emptied again; others are not filled. */
static HAK_EARLY _Atomic bool maps_are_locked;

static HAK_COLD void lock_on_fault(void *start, size_t size) {
    if (mlock2(start, size, MLOCK_ONFAULT) == 0)
        madvise(start, size, MADV_DONTNEED_LOCKED);
}

static HAK_COLD enum hak_commit make_writable(void *start, size_t size, bool is_reserved) {
    if (mprotect(start, size, PROT_READ | PROT_WRITE) == 0)
        return HAK_COMMITTED;
    if (!is_reserved)
        munmap(start, size);
    return HAK_REFUSED;
}

static enum hak_commit mapped_elsewhere(void *got, size_t size) {
    if (got == MAP_FAILED)
        return HAK_REFUSED;
    munmap(got, size);
    return HAK_TAKEN;
}

/* Without MAP_FIXED the address is a hint, which the system follows where nothing lies there:
 * unlike MAP_FIXED_NOREPLACE, that holds on every kernel, in valgrind and in the sanitizers. */
static enum hak_commit map_at(void *start, size_t size, int how) {
    bool in_steps = atomic_load_explicit(&maps_are_locked, memory_order_relaxed);
    int access = in_steps ? PROT_NONE : PROT_READ | PROT_WRITE;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | how;
    void *got = mmap(start, size, access, flags, -1, 0);
    if (got != start)
        return mapped_elsewhere(got, size);
    bool locked = is_locked(start);
    atomic_store_explicit(&maps_are_locked, locked, memory_order_relaxed);
    if (locked)
        lock_on_fault(start, size);
    return in_steps ? make_writable(start, size, how == MAP_FIXED) : HAK_COMMITTED;
}

enum hak_commit hak_os_commit(void *start, size_t size, bool is_reserved) {
    return HAK_KEEP_ERRNO(map_at(start, size, is_reserved ? MAP_FIXED : 0));
}

/* ---- memory ---- */

bool hak_os_purge(void *start, size_t size) {
    return advise(start, size, MADV_DONTNEED) || advise(start, size, MADV_DONTNEED_LOCKED);
}

bool hak_os_offer(void *start, size_t size) {
    return advise(start, size, MADV_FREE);
}

void hak_os_huge_pages(void *start, size_t size, enum hak_huge_pages mode) {
    if (mode == HAK_HUGE_SYSTEM)
        return;
    /* A kernel without huge pages refuses; nothing is lost. */
    advise(start, size, mode == HAK_HUGE_ALWAYS ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

static size_t count_resident(char *start, size_t pages) {
    unsigned char present[512];
    size_t count = 0;
    if (HAK_KEEP_ERRNO(mincore(start, pages * hak_os_page_size(), present)) != 0)
        return 0;
    for (size_t i = 0; i < pages; i++)
        count += present[i] & 1;
    return count;
}

/* Few programs call mincore, and lists of permitted calls leave it out (systemd's @system-service
 * does): the library must not be what such a program is killed for. */
bool hak_os_may_ask(void) {
    int saved_errno = errno;
    int mode = prctl(PR_GET_SECCOMP, 0, 0, 0, 0);
    /* A kernel without seccomp says EINVAL; another refusal comes from a filter. */
    bool unwatched = mode == 0 || (mode < 0 && errno == EINVAL);
    errno = saved_errno;
    return unwatched;
}

/* A second filter does not show here; but a process without rights needs no_new_privs for its
 * first. */
unsigned hak_os_confinement(void) {
    int filter = HAK_KEEP_ERRNO(prctl(PR_GET_SECCOMP, 0, 0, 0, 0));
    int privileges = HAK_KEEP_ERRNO(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
    return (unsigned)filter << 1 ^ (unsigned)privileges;
}

size_t hak_os_resident(void *start, size_t size) {
    size_t pages = hak_os_may_ask() ? size / hak_os_page_size() : 0, count = 0;
    for (size_t done = 0, step; done < pages; done += step) {
        step = pages - done < 512 ? pages - done : 512;
        count += count_resident((char *)start + done * hak_os_page_size(), step);
    }
    return count * hak_os_page_size();
}

static struct rusage usage(void) {
    struct rusage now;
    getrusage(RUSAGE_SELF, &now); /* cannot fail with these arguments */
    return now;
}

uint64_t hak_os_faults(void) {
    return (uint64_t)usage().ru_minflt;
}

uint64_t hak_os_slow_faults(void) {
    return (uint64_t)usage().ru_majflt;
}

size_t hak_os_address_space_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    return (size_t)limit.rlim_cur;
}

bool hak_os_is_private_limited(void) {
    struct rlimit data;
    return getrlimit(RLIMIT_DATA, &data) == 0 && data.rlim_cur != RLIM_INFINITY;
}

bool hak_os_is_privileged(void) {
    return getauxval(AT_SECURE) != 0;
}
