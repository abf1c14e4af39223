/* What the allocator tells about itself, and mallopt, malloc_trim and hak_purge. */
#include "base/fatal.h"
#include "front/usage.h"
#include "guard/guard.h"
#include "include/hakmem.h"
#include "pages/segment.h"
#include "policy/policy.h"
#include "reclaim/purge.h"
#include "stats/stats.h"
#include "thread/thread.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>

static void collect(hak_usage *usage) {
    hak_usage_collect(usage);
    if (HAK_GUARD)
        hak_guard_discount(usage);
}

HAK_EXPORT void hak_get_usage(hak_usage *usage) {
    collect(usage);
}

HAK_EXPORT int hak_validate(void) {
    if (HAK_GUARD)
        hak_guard_sweep();
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
    collect(&u);
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

typedef struct figure {
    const char *name;
    const char *help;
    size_t value;
} figure;

enum {
#define HAK_EVENT(name, help) EVENT_##name,
#include "stats/events.def"
#undef HAK_EVENT
    EVENTS,
    USAGES = 7,
    FIGURES = USAGES + EVENTS
};

static void collect_figures(figure figures[FIGURES]) {
    hak_usage u;
    collect(&u);
    const figure all[] = {
        {"reserved", "bytes of address space reserved", u.reserved},
        {"committed", "bytes of segments ever used", u.committed},
        {"used", "bytes in blocks that are out", u.used},
        {"large", "bytes of them in large blocks", u.large},
        {"free", "bytes free and still backed by memory", u.free},
        {"blocks", "blocks that are out", u.blocks},
        {"heaps", "heaps of threads, idle ones included", u.heaps},
#define HAK_EVENT(name, help) {#name, help, HAK_COUNTED(name)},
#include "stats/events.def"
#undef HAK_EVENT
    };
    for (unsigned i = 0; i < FIGURES; i++)
        figures[i] = all[i];
}

HAK_EXPORT void hak_malloc_stats(void) {
    figure figures[FIGURES];
    collect_figures(figures);
    hak_message((const char *const[]){"hakmem ", hak_version(), NULL});
    for (unsigned i = 0; i < FIGURES; i++) {
        char number[21];
        hak_message((const char *const[]){"  ", figures[i].name, " = ",
                                          hak_decimal(figures[i].value, number), "  (",
                                          figures[i].help, ")", NULL});
    }
    hak_policy_tell();
}

HAK_EXPORT int hak_malloc_info(int options, FILE *stream) {
    if (options != 0)
        return EINVAL;
    figure figures[FIGURES];
    collect_figures(figures);
    fprintf(stream, "<malloc version=\"1\" allocator=\"hakmem %s\">\n", hak_version());
    for (unsigned i = 0; i < FIGURES; i++)
        fprintf(stream, "<figure name=\"%s\" value=\"%zu\"/>\n", figures[i].name, figures[i].value);
    fputs("</malloc>\n", stream);
    return 0;
}

/* glibc's tunables have no meaning here; 1 says that the call was understood. */
HAK_EXPORT int hak_mallopt(int parameter, int value) {
    (void)parameter, (void)value;
    return 1;
}

HAK_EXPORT int hak_malloc_trim(size_t keep) {
    (void)keep; /* what must stay mapped for speed is the policy's business */
    return hak_purge() != 0;
}

HAK_LIBC_NAME(struct mallinfo2, mallinfo2, (void), hak_mallinfo2)
HAK_LIBC_NAME(struct mallinfo, mallinfo, (void), hak_mallinfo)
HAK_LIBC_NAME(struct mallinfo, __libc_mallinfo, (void), hak_mallinfo)
HAK_LIBC_NAME(int, mallopt, (int parameter, int value), hak_mallopt)
HAK_LIBC_NAME(int, __libc_mallopt, (int parameter, int value), hak_mallopt)
HAK_LIBC_NAME(int, malloc_trim, (size_t keep), hak_malloc_trim)
HAK_LIBC_NAME(void, malloc_stats, (void), hak_malloc_stats)
HAK_LIBC_NAME(int, malloc_info, (int options, FILE *stream), hak_malloc_info)

/* ---- start and end of the process ---- */

/* Threads would meet at their first calls, perhaps with a lock of libc's in their hands: what asks
 * libc for something is done here. A heap is not made before somebody allocates. */
static HAK_AT_LOAD void start_at_load(int argc, char **argv, char **environment) {
    (void)argc, (void)argv;
    hak_policy_start(environment);
    hak_thread_start_process();
}

static HAK_AT_UNLOAD void print_at_exit(void) {
    if (hak_policy_now()->stats_at_exit != 0)
        hak_malloc_stats();
}
