/* What the allocator tells about itself, and malloc_trim and hak_purge. */
#include "base/fatal.h"
#include "base/libc_malloc.h"
#include "front/profile.h"
#include "front/strict.h"
#include "front/usage.h"
#include "guard/guard.h"
#include "include/hakmem.h"
#include "os/listener.h"
#include "os/lock.h"
#include "policy/policy.h"
#include "sampling/dump.h"
#include "reclaim/follow.h"
#include "report/figures.h"
#include "report/server.h"
#include "thread/thread.h"
#include "trap/trap.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

static void take_snapshot(hak_snapshot *snapshot) {
    hak_snapshot_take(snapshot);
    if (HAK_GUARD)
        hak_guard_discount(snapshot);
}

HAK_EXPORT void hak_get_usage(hak_usage *usage) {
    hak_snapshot snapshot;
    take_snapshot(&snapshot);
    hak_usage_of(usage, &snapshot);
}

HAK_EXPORT size_t hak_stats_json(char *buffer, size_t size) {
    hak_snapshot snapshot;
    take_snapshot(&snapshot);
    return hak_report_json(&snapshot, buffer, size);
}

HAK_EXPORT size_t hak_stats_prometheus(char *buffer, size_t size) {
    hak_snapshot snapshot;
    take_snapshot(&snapshot);
    return hak_report_prometheus(&snapshot, buffer, size);
}

HAK_EXPORT int hak_validate(void) {
    if (HAK_GUARD)
        hak_guard_sweep();
    hak_trap_check();
    return hak_usage_is_valid();
}

HAK_EXPORT const char *hak_version(void) {
    return HAK_VERSION;
}

HAK_EXPORT size_t hak_purge(void) {
    hak_heap_flush_borrowed();
    return hak_heap_purge_all();
}

/* ---- libc's information functions ---- */

HAK_EXPORT struct mallinfo2 hak_mallinfo2(void) {
    hak_usage u;
    hak_get_usage(&u);
    return (struct mallinfo2){.arena = u.committed - u.large,
                              .ordblks = 1,
                              .hblkhd = u.large,
                              .uordblks = u.used - u.large,
                              .fordblks = u.free,
                              .keepcost = u.free};
}

static int clip(size_t value) {
    return value < INT_MAX ? (int)value : INT_MAX;
}

HAK_EXPORT struct mallinfo hak_mallinfo(void) {
    struct mallinfo2 m = hak_mallinfo2();
    return (struct mallinfo){.arena = clip(m.arena),
                             .ordblks = clip(m.ordblks),
                             .hblkhd = clip(m.hblkhd),
                             .uordblks = clip(m.uordblks),
                             .fordblks = clip(m.fordblks),
                             .keepcost = clip(m.keepcost)};
}

static void print(const char *name, size_t value, const char *help) {
    hak_message("  %s = %zu  (%s)", name, value, help);
}

HAK_EXPORT void hak_malloc_stats(void) {
    hak_usage u;
    hak_figure events[HAK_EVENTS];
    hak_get_usage(&u);
    hak_figures_of_events(events);
    hak_message("hakmem %s", hak_version());
    print("reserved_bytes", u.reserved, "addresses set apart");
    print("committed_bytes", u.committed, "segments that were ever used");
    print("live_bytes", u.used, "bytes of blocks that the program has");
    print("live_large_bytes", u.large, "those of more than 64 KiB among them");
    print("free_bytes", u.free, "free blocks handed out before, and free pages that wait");
    print("live_blocks", u.blocks, "blocks that the program has");
    print("heaps", u.heaps, "heaps of threads, idle ones included");
    for (const hak_figure *f = events; f < events + HAK_EVENTS; f++)
        print(f->name, f->value, f->help);
    hak_policy_tell();
}

HAK_EXPORT int hak_malloc_info(int options, FILE *stream) {
    hak_snapshot snapshot;
    if (options != 0)
        return EINVAL;
    take_snapshot(&snapshot);
    hak_usage_write_xml(&snapshot, stream);
    return 0;
}

HAK_EXPORT int hak_malloc_trim(size_t keep) {
    (void)keep; /* what must stay mapped for speed is the policy's business */
    return hak_purge() != 0;
}

HAK_LIBC_NAME(mallinfo2)
HAK_LIBC_NAMES(mallinfo)
HAK_LIBC_NAME(malloc_trim)
HAK_LIBC_NAME(malloc_stats)
HAK_LIBC_NAME(malloc_info)

/* The other half of what gate.c says about static libraries: who asks for one of these alone gets
 * malloc and free, too. */
static HAK_USED void (*const whole_family)(void *) = hak_free;

/* ---- start and end of the process ---- */

/* What asks libc for something is done here: at their first calls threads could wait for each
 * other, perhaps with a lock of libc's held. No heap is made before somebody allocates. */
static HAK_AT_LOAD void start_at_load(void) {
    hak_policy_start(environ); /* glibc would hand it over, musl does not */
    hak_thread_start_process();
    hak_server_start(environ, hak_stats_prometheus, hak_stats_json);
    if (!hak_policy_is_standard())
        hak_follow_start();
}

/* After the constructors that tell the unwinder of a static program where its tables are. */
static HAK_LATE_AT_LOAD void begin_profile(void) {
    if (HAK_HARDENED)
        hak_strict_begin();
    hak_trap_begin();
    hak_profile_begin(environ);
}

/* A signal handler that calls exit may have interrupted this thread while it held a lock. */
static HAK_AT_UNLOAD void print_at_exit(void) {
    hak_listener_close();
    if (hak_policy_now()->stats_at_exit != 0)
        hak_malloc_stats();
    if (hak_locks_held != 0)
        return;
    hak_profile_write_next();
    if (!HAK_GUARD)
        hak_leak_samples_look();
}
