#include "guard/refuse.h"

#include "base/fatal.h"
#include "large/large.h"
#include "pages/heap_room.h"
#include "pages/range.h"

#include <string.h>

enum { SENTENCE = 160 };
static const char *const family_names[] = {"malloc", "new", "new[]"};

/* Joins words, of which `value` may stand for a number. */
static void append(char *sentence, const char *words) {
    size_t length = strlen(sentence), more = strlen(words);
    if (length + more < SENTENCE)
        memcpy(sentence + length, words, more + 1);
}

static void append_number(char *sentence, size_t value) {
    char digits[21];
    append(sentence, hak_decimal(value, digits));
}

static void say_size(char *sentence, const char *before, size_t size, const char *after) {
    append(sentence, before);
    append_number(sentence, size);
    append(sentence, after);
}

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
    char why[SENTENCE] = "";
    if (claim->family != facts.family) {
        append(why, "the block came from ");
        append(why, family_names[facts.family]);
    } else if (claim->size != SIZE_MAX && claim->size != facts.size) {
        say_size(why, "the block has ", facts.size, " bytes");
        say_size(why, ", not ", claim->size, "");
    } else {
        say_size(why, "the block is aligned to ", (size_t)1 << facts.alignment, "");
        say_size(why, ", not to ", claim->alignment, "");
    }
    hak_fatal("mismatched free", claim->function, block, why);
}

/* Which byte it is, seen from the block: behind its end, or in front of it. */
static void say_byte(char *sentence, const void *block, const void *at) {
    ptrdiff_t offset = (const char *)at - (const char *)block;
    say_size(sentence, "byte ", (size_t)(offset < 0 ? -offset : offset),
             offset < 0 ? " in front was written to" : " was written to");
}

void hak_refuse_overflow(const void *block, const char *function, hak_facts facts, const void *at) {
    char why[SENTENCE] = "";
    say_byte(why, block, at);
    say_size(why, ", of a block of ", facts.size, " bytes");
    hak_fatal("overflow", function, block, why);
}

void hak_refuse_written(const void *block, const char *function, hak_facts facts, const void *at) {
    char why[SENTENCE] = "";
    say_byte(why, block, at);
    say_size(why, " after the free of a block of ", facts.size, " bytes");
    hak_fatal("use after free", function, block, why);
}

static const char *const how = "access";

static void explain_large(const void *address, const hak_slab *run) {
    hak_place place = hak_place_at((const void *)run->start);
    if (place.record == NULL)
        return;
    char why[SENTENCE] = "";
    hak_facts facts = atomic_load_explicit(place.record, memory_order_relaxed);
    if (facts.life == HAK_IN_USE) {
        say_size(why, "behind a block of ", facts.size, " bytes");
        hak_fatal("overflow", how, address, why);
    }
    say_size(why, "in a block of ", facts.size, " bytes that was freed");
    hak_fatal("use after free", how, address, why);
}

/* Between the start of a range's tables and its first page nothing belongs to the program. */
static bool is_among_tables(const void *address) {
    for (size_t i = 0; i < hak_range_count(); i++) {
        uintptr_t tables = (uintptr_t)hak_ranges[i].classes;
        if ((uintptr_t)address >= tables && (uintptr_t)address < hak_ranges[i].base)
            return true;
    }
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
