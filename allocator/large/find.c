#include "large/block.h"

#include "base/fatal.h"
#include "pages/apart.h"
#include "pages/range.h"
#include "trap/trap.h"

static const char inside[] = "inside a large block, not its start";
static const char freed[] = "its pages are free already";

static _Noreturn HAK_COLD void refuse_outside(const void *p, const char *function) {
    enum hak_apart_place place = hak_apart_place_of(p);
    if (place == HAK_APART_INSIDE)
        hak_fatal("invalid pointer", function, p, inside);
    if (place == HAK_APART_FREED)
        hak_fatal("double free", function, p, freed);
    hak_fatal("invalid pointer", function, p, "no allocation of this process returned it");
}

static _Noreturn HAK_COLD void refuse_pointer(const void *p, const char *function) {
    const hak_range *r = hak_range_of(p);
    if (r == NULL)
        refuse_outside(p, function);
    const hak_slab *run = hak_run_covering(r, hak_page_index(r, p));
    if (run != NULL && run->kind == HAK_RUN_SLAB)
        hak_fatal("heap corruption", function, p, "class map and slab table disagree");
    if (run != NULL && hak_kind_is_large(run->kind))
        hak_fatal("invalid pointer", function, p, inside);
    hak_fatal("double free", function, p, freed);
}

hak_slab *hak_large_find(const void *block, const char *function) {
    hak_slab *run = hak_run_of(block);
    if (run == NULL)
        return NULL;
    if (!hak_kind_is_large(run->kind) || run->start != (uintptr_t)block)
        refuse_pointer(block, function);
    return run;
}

size_t hak_large_size_apart(const void *block, const char *function) {
    size_t size;
    if (hak_trap_size(block, function, &size))
        return size;
    size = hak_apart_size(block);
    if (size == 0)
        refuse_outside(block, function);
    return size;
}

void hak_large_give_apart(void *block, const char *function) {
    if (!hak_trap_give(block) && !hak_apart_give(block))
        refuse_outside(block, function);
}
