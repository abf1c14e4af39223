/* The contract with the operating system: the only place where memory is mapped, where threads
 * wait and where time is read. Linux; see memory_linux.c, clock_linux.c and process_linux.c.
 *
 * Preconditions of all memory functions: addresses and sizes are multiples of hak_os_page_size(),
 * sizes are not zero. Failing calls leave errno alone. */
#pragma once

#include "base/bits.h"

#include <time.h>

/* Bytes in a page of the system: 4096 on most machines. */
size_t hak_os_page_size(void);

/* Plans of two zones never overlap; two of the same may. */
enum hak_zone { HAK_ZONE_OF_HEAPS, HAK_ZONE_OF_PAGES, HAK_ZONES };

/* Address space comes in one of two ways; `align` is a power of two.
 *   A plan: addresses far from where the system and others put mappings, other ones at each call.
 *   Nothing is mapped and the system is not asked, so it costs nothing and counts nowhere.
 *   A reservation: mapped without memory, which core files leave out. NULL when refused; of a plan,
 *   when it is too large. */
void *hak_os_plan(enum hak_zone zone, size_t size, size_t align);

/* How many plans are tried. One in 16 meets the plan of the first range, unless HAKMEM_RESERVE says
 * otherwise; another mapping is met once in some thousand times at most. */
enum { HAK_PLANS = 8 };
void *hak_os_reserve(size_t size, size_t align);

/* Makes a part of either usable that is not yet; it reads as zero. HAK_REFUSED: out of memory or
 * address space. HAK_TAKEN: somebody else has mapped something there, which happens to plans. */
enum hak_commit { HAK_REFUSED, HAK_COMMITTED, HAK_TAKEN };
enum hak_commit hak_os_commit(void *start, size_t size, bool is_reserved);
/* Gives the memory back; the space stays usable and reads as zero again. */
bool hak_os_purge(void *start, size_t size);
/* The same for the whole pages between any two addresses. Returns their bytes; 0: nothing went. */
HAK_INLINE size_t hak_os_purge_within(const void *from, const void *to) {
    uintptr_t first = hak_round_up((uintptr_t)from, hak_os_page_size());
    uintptr_t end = hak_round_down((uintptr_t)to, hak_os_page_size());
    return first < end && hak_os_purge((void *)first, end - first) ? end - first : 0;
}
/* Lets the system take the memory back when it is short of it: until then it stays, with its
 * contents, and costs less to use again. */
bool hak_os_offer(void *start, size_t size);
/* A mapping by itself outside of all reservations, usable, aligned to `align`; reads as zero. NULL:
 * the system refuses, also what it could never back. */
void *hak_os_map(size_t size, size_t align);
void hak_os_unmap(void *start, size_t size);
/* What is there already, or else such a mapping of as many pages as hold the bytes. */
HAK_INLINE void *hak_os_map_once(void *there, size_t bytes) {
    return there != NULL ? there : hak_os_map(hak_round_up(bytes, hak_os_page_size()), 1);
}
/* The same mapping with another size; it may move. NULL: refused, nothing happened. */
void *hak_os_remap(void *start, size_t size, size_t new_size);
/* Moves the memory of a committed block, and so much more, into a mapping by itself; the old place
 * then reads as zero. NULL: not possible here, nothing happened. */
void *hak_os_move_out(void *from, size_t size, size_t new_size);

enum hak_huge_pages { HAK_HUGE_NEVER, HAK_HUGE_SYSTEM, HAK_HUGE_ALWAYS, HAK_HUGE_DENSE };
/* Advises the kernel on transparent huge pages; HAK_HUGE_DENSE is none, to begin with. */
void hak_os_huge_pages(void *start, size_t size, enum hak_huge_pages mode);

/* False where the program lets a filter decide about system calls (seccomp): what few programs call
 * is not called then. */
bool hak_os_may_ask(void);

/* What confines the process, as a word: it changes where a program sets up a filter. */
HAK_COLD unsigned hak_os_confinement(void);

/* Bytes of the memory that are resident; 0 when the system does not say. */
size_t hak_os_resident(void *start, size_t size);

/* Page faults of the process up to now that no disk was needed for. */
uint64_t hak_os_faults(void);
/* Those that waited for the disk. */
uint64_t hak_os_slow_faults(void);
/* Resident memory of the whole process in bytes; 0: the system does not say, or a filter of system
 * calls is there. errno is kept. */
size_t hak_os_process_resident(void);

/* The limit on address space of this process in bytes (RLIMIT_AS), SIZE_MAX when there is none. */
size_t hak_os_address_space_limit(void);

/* True when private memory of this process is limited, used or not. */
bool hak_os_is_private_limited(void);

/* The system's clocks, past libc's clock_gettime: programs put their own in its place, as
 * libfaketime does, and that may allocate, in the middle of our work. Zero where there is no such
 * clock. */
struct timespec hak_os_clock(clockid_t clock);
/* Milliseconds of a clock that never goes back; cheap, some milliseconds coarse. */
uint64_t hak_os_now_ms(void);
/* Microseconds of the same clock; exact, and some ten times as dear. */
uint64_t hak_os_now_us(void);

/* Calls `handler` at a signal that nobody handles or ignores yet. False: somebody does, or the
 * system refuses. */
bool hak_os_on_signal(int signal, void (*handler)(int signal));

/* True while this is still the handler of the signal: a program may set its own at any time. */
HAK_COLD bool hak_os_is_handler(int signal, void (*handler)(int signal));

/* True when the environment must not be believed: setuid, setgid or file capabilities. */
bool hak_os_is_privileged(void);

/* Life cycle. `on_thread_exit` runs once in every ending thread that called
 * hak_os_watch_this_thread; `after_fork_in_child` in a child of fork before it takes any lock. */
typedef struct hak_os_hooks {
    void (*on_thread_exit)(void);
    void (*after_fork_in_child)(void);
} hak_os_hooks;
/* One thread at a time calls it, until it returns true: false when all 1,024 keys of the process
 * are taken, or out of memory. May call malloc. */
bool hak_os_start(const hak_os_hooks *hooks);
/* False: the end of this thread would not be noticed. May call calloc. */
bool hak_os_watch_this_thread(void);

/* In a destructor of the library. All else that runs at the end still runs, files are flushed, and
 * then the process ends with `code` in place of 0. A code of the program's own that is not 0 stays.
 * Where libc cannot do that (musl), the process ends at once with `code`, its files flushed. */
void hak_os_exit_with(int code);
