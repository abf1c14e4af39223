#include "guard/refuse.h"

#include "base/fatal.h"
#include "base/text.h"
#include "large/large.h"
#include "pages/heap_room.h"
#include "pages/range.h"

enum { SENTENCE = 160 };
static const char *const family_names[] = {"malloc", "new", "new[]"};
static const char *const how = "access";

void hak_refuse_place(const void *block, const char *function, hak_place place) {
    if (place.record != NULL) {
        hak_facts facts = atomic_load_explicit(place.record, memory_order_relaxed);
        if (facts.life == HAK_KEPT_BACK || facts.life == HAK_GONE)
            hak_fatal("double free", function, block, "the block is free already");
    }
    if (hak_heap_room_holds(block))
        hak_fatal("invalid pointer", function, block, "inside the allocator's own memory");
    if (place.run == NULL || place.run->kind != HAK_RUN_SLAB)
        hak_large_size(block, function); /* knows why, and does not return */
    hak_fatal("invalid free", function, block,
              place.record != NULL ? "the block was never handed out" : "not the start of a block");
}

void hak_refuse_claim(const void *block, const hak_free_call *claim, hak_facts facts) {
    char why[SENTENCE];
    if (claim->family != facts.family)
        hak_print(why, SENTENCE, "the block came from %s", family_names[facts.family]);
    else if (claim->size != SIZE_MAX && claim->size != facts.size)
        hak_print(why, SENTENCE, "the block has %zu bytes, not %zu", (size_t)facts.size,
                  claim->size);
    else
        hak_print(why, SENTENCE, "the block is aligned to %zu, not to %zu",
                  (size_t)1 << facts.alignment, claim->alignment);
    hak_fatal("mismatched free", claim->function, block, why);
}

/* Names the byte as seen from the block: behind its end, or in front of it. */
static _Noreturn void refuse_byte(const char *what, const void *block, const char *function,
                                  const char *of, hak_facts facts, const void *at) {
    char why[SENTENCE];
    ptrdiff_t offset = (const char *)at - (const char *)block;
    hak_print(why, SENTENCE, "byte %zu%s was written to%s of a block of %zu bytes",
              (size_t)(offset < 0 ? -offset : offset), offset < 0 ? " in front" : "", of,
              (size_t)facts.size);
    hak_fatal(what, function, block, why);
}

void hak_refuse_overflow(const void *block, const char *function, hak_facts facts, const void *at) {
    refuse_byte("overflow", block, function, ",", facts, at);
}

void hak_refuse_written(const void *block, const char *function, hak_facts facts, const void *at) {
    refuse_byte("use after free", block, function, " after the free", facts, at);
}

static void explain_large(const void *address, const hak_slab *run) {
    hak_place place = hak_place_at((const void *)run->start);
    if (place.record == NULL)
        return;
    char why[SENTENCE];
    hak_facts facts = atomic_load_explicit(place.record, memory_order_relaxed);
    bool lives = facts.life == HAK_IN_USE;
    hak_print(why, SENTENCE, "%s a block of %zu bytes%s", lives ? "behind" : "in",
              (size_t)facts.size, lives ? "" : " that was freed");
    hak_fatal(lives ? "overflow" : "use after free", how, address, why);
}

/* Between the start of a range's tables and its first page nothing belongs to the program. */
static bool is_among_tables(const void *address) {
    HAK_EACH_RANGE(r)
        if ((uintptr_t)address >= r->tables[0].start && (uintptr_t)address < r->base)
            return true;
    return false;
}

void hak_explain_fault(const void *address) {
    if (is_among_tables(address))
        hak_fatal("overflow", how, address, "among the allocator's tables");
    if (hak_heap_room_holds(address))
        hak_fatal("overflow", how, address, "beside a heap of the allocator");
    const hak_range *r = hak_range_of(address);
    const hak_slab *run = r != NULL ? hak_run_covering(r, hak_page_index(r, address)) : NULL;
    if (run != NULL && run->kind == HAK_RUN_LARGE)
        explain_large(address, run);
}
