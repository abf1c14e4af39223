/* The tallies of all heaps: summed, exported, and printed when the program ends. */
#include "base/classes.h"
#include "base/fatal.h"
#include "heap/seat.h"
#include "include/hakmem.h"
#include "include/hakmem_research.h"
#include "policy/policy.h"
#include "stats/stats.h"

#include <errno.h>
#include <stdio.h>

enum { AS_TABLE = 1, AS_JSON = 2, LINE = 256 };

static void add(hak_class_counters *sum, const hak_tally *tally) {
#define HAK_TALLY_ADD(name) sum->name += tally->name;
    HAK_TALLIES(HAK_TALLY_ADD)
#undef HAK_TALLY_ADD
}

HAK_EXPORT int hak_get_class_counters(unsigned cls, hak_class_counters *counters) {
    if (cls >= HAK_CLASSES)
        return 0;
    hak_tally kept = hak_tallies_kept(cls);
    *counters = (hak_class_counters){.size = hak_classes[cls].size};
    add(counters, &kept);
    HAK_EACH_SEAT(seat)
        if (hak_seat_has_heap(seat))
            add(counters, &seat->heap->tallies[cls]);
    return 1;
}

static bool is_unused(const hak_class_counters *c) {
    uint64_t all = 0;
#define HAK_TALLY_OR(name) all |= c->name;
    HAK_TALLIES(HAK_TALLY_OR)
#undef HAK_TALLY_OR
    return all == 0;
}

#define TABLE_FORMAT "%8lu %12lu %12lu %10lu %10lu %10lu %10lu"
#define JSON_FORMAT                                                                                \
    " %s{\"size\": %lu, \"pop\": %lu, \"push\": %lu, \"fallback\": %lu, \"refill\": %lu, "         \
    "\"retire\": %lu, \"remote\": %lu}"

static void format_class(char line[LINE], const hak_class_counters *c, const char *comma) {
    if (comma != NULL)
        snprintf(line, LINE, JSON_FORMAT, comma, c->size, c->pop, c->push, c->fallback, c->refill,
                 c->retire, c->remote);
    else
        snprintf(line, LINE, TABLE_FORMAT, c->size, c->pop, c->push, c->fallback, c->refill,
                 c->retire, c->remote);
}

static void print_classes(bool as_json) {
    const char *comma = "";
    for (unsigned cls = 0; cls < HAK_CLASSES; cls++) {
        char line[LINE];
        hak_class_counters c;
        hak_get_class_counters(cls, &c);
        if (is_unused(&c))
            continue;
        format_class(line, &c, as_json ? comma : NULL);
        hak_message("%s", line);
        comma = ",";
    }
}

/* A shell and the programs that it starts print a table each. */
static void print_table(void) {
    char line[LINE];
    hak_message("%s:", program_invocation_short_name);
    snprintf(line, sizeof line, "%8s %12s %12s %10s %10s %10s %10s", "size", "pop", "push",
             "fallback", "refill", "retire", "remote");
    hak_message("%s", line);
    print_classes(false);
}

static void print_json(void) {
    hak_message("{\"version\": \"%s\", \"forced_libc\": %s, \"classes\": [", hak_version(),
                hak_libc_is_forced() ? "true" : "false");
    print_classes(true);
    hak_message("]}");
}

static HAK_AT_UNLOAD void print_counters_at_exit(void) {
    unsigned long form = hak_policy_now()->counters;
    if (form == AS_TABLE)
        print_table();
    else if (form == AS_JSON)
        print_json();
}
