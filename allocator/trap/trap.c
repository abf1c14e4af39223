#include "trap/trap.h"

#include "os/fault.h"
#include "os/thread.h"
#include "trap/canary.h"
#include "trap/pool.h"

enum { STEP = 16, SPINS = 1000 };

/* ---- canaries ---- */

static hak_fenced fenced(size_t slot) {
    const hak_trap_slot *s = &hak_traps.slots[slot];
    char *page = hak_trap_page(slot), *block = page + s->offset;
    return (hak_fenced){page, block, block + s->size, page + hak_os_page_size()};
}

static void check(size_t slot, const char *function) {
    hak_fenced f = fenced(slot);
    const char *damage = hak_canary_damage(f);
    if (damage != f.end)
        hak_trap_end(damage < f.block ? "underflow" : "overflow", function, damage, slot);
}

/* ---- blocks ---- */

/* Not before the first block: by then the program has set up handlers of its own, which ours
 * calls. */
static void watch_faults(void) {
    static _Atomic bool watched;
    if (!atomic_load(&watched) && !atomic_exchange(&watched, true))
        hak_os_watch_faults(hak_trap_explain);
}

static void *begin(size_t slot, size_t size, bool right) {
    size_t room = hak_round_up(size != 0 ? size : 1, STEP);
    hak_trap_slot *s = &hak_traps.slots[slot];
    s->size = (uint32_t)size;
    s->offset = right ? (uint32_t)(hak_os_page_size() - room) : 0;
    hak_canary_put(fenced(slot));
    hak_trap_note(&s->allocated);
    hak_trap_pass(slot, HAK_TRAP_BUSY, HAK_TRAP_LIVE);
    return hak_trap_start(slot);
}

void *hak_trap_take(size_t size, bool right) {
    watch_faults();
    size_t slot = size <= hak_os_page_size() ? hak_trap_claim() : HAK_TRAP_SLOTS;
    if (slot == HAK_TRAP_SLOTS)
        return NULL;
    if (!hak_os_unprotect(hak_trap_page(slot), hak_os_page_size())) {
        hak_trap_retire(slot);
        return NULL;
    }
    return begin(slot, size, right);
}

/* Another thread may be looking at the canary, and may be waiting for this one's processor, if this
 * one has the higher priority. */
static bool claim_to_free(size_t slot) {
    for (unsigned spins = 0; hak_trap_state_of(slot) == HAK_TRAP_CHECKED; spins++)
        if (spins < SPINS)
            HAK_PAUSE();
        else
            hak_os_sleep_ms(1);
    return hak_trap_pass(slot, HAK_TRAP_LIVE, HAK_TRAP_BUSY);
}

static bool was_freed(const void *block, size_t slot) {
    return hak_trap_state_of(slot) < HAK_TRAP_LIVE && hak_trap_was_used(slot) &&
           hak_trap_start(slot) == block;
}

static _Noreturn void refuse(const void *block, const char *function, size_t slot,
                             const char *when_freed) {
    hak_trap_end(was_freed(block, slot) ? when_freed : "invalid pointer", function, block, slot);
}

bool hak_trap_give(void *block) {
    if (!hak_trap_holds(block))
        return false;
    size_t slot = hak_trap_slot_at(block);
    if (hak_trap_start(slot) != block || !claim_to_free(slot))
        refuse(block, "free", slot, "double free");
    check(slot, "free");
    hak_trap_note(&hak_traps.slots[slot].freed);
    hak_os_protect(hak_trap_page(slot), hak_os_page_size());
    hak_os_purge(hak_trap_page(slot), hak_os_page_size());
    hak_trap_retire(slot);
    return true;
}

bool hak_trap_size(const void *block, const char *function, size_t *size) {
    if (!hak_trap_holds(block))
        return false;
    size_t slot = hak_trap_slot_at(block);
    if (hak_trap_start(slot) != block || hak_trap_state_of(slot) < HAK_TRAP_LIVE)
        refuse(block, function, slot, "use after free");
    *size = hak_traps.slots[slot].size;
    return true;
}

/* ---- all of them ---- */

void hak_trap_check(void) {
    for (size_t slot = 0; hak_traps.start != 0 && slot < HAK_TRAP_SLOTS; slot++)
        if (hak_trap_pass(slot, HAK_TRAP_LIVE, HAK_TRAP_CHECKED)) {
            check(slot, "hak_validate");
            hak_trap_pass(slot, HAK_TRAP_CHECKED, HAK_TRAP_LIVE);
        }
}

size_t hak_trap_count(size_t *bytes) {
    size_t count = 0;
    *bytes = 0;
    for (size_t slot = 0; hak_traps.start != 0 && slot < HAK_TRAP_SLOTS; slot++)
        if (hak_trap_state_of(slot) >= HAK_TRAP_LIVE) {
            count++;
            *bytes += hak_traps.slots[slot].size;
        }
    return count;
}

/* Nobody looks at canaries in the child yet. */
void hak_trap_after_fork_in_child(void) {
    for (size_t slot = 0; hak_traps.start != 0 && slot < HAK_TRAP_SLOTS; slot++)
        hak_trap_pass(slot, HAK_TRAP_CHECKED, HAK_TRAP_LIVE);
}
