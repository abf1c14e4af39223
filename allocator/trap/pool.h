/* The pool of the sampled guard: slots of one page of the system, each between pages that fault.
 *
 *   | events of all slots | fault | slot 0 | fault | slot 1 | fault | ... | slot 255 | fault |
 *
 *   a slot in use:   | block |########## canary |   at its left end, or
 *                    | canary ##########| block |   at its right, 16 bytes being the least step
 *
 *   FREE --claim--> BUSY --> LIVE <--> CHECKED
 *    ^                       |
 *    '------- BUSY <---------'          a word for each slot: state, and the turn of its last free
 *
 * A free slot faults and has no memory. The one that has been free for longest is taken next, and
 * none while fewer than a quarter are free: so each freed block faults until 64 others were freed
 * after it, and the pool never has more than 192 pages. There is no lock: a slot changes hands by
 * one compare-and-swap, and what a forked child finds BUSY is lost to it. */
#pragma once

#include "os/os.h"
#include "sampling/stack.h"

#include <stdatomic.h>

enum { HAK_TRAP_SLOTS = 256, HAK_TRAP_KEPT = HAK_TRAP_SLOTS / 4 };
enum hak_trap_state { HAK_TRAP_FREE, HAK_TRAP_BUSY, HAK_TRAP_LIVE, HAK_TRAP_CHECKED };

/* Who asked for a block or freed it. */
typedef struct hak_trap_event {
    int thread;
    hak_stack stack;
} hak_trap_event;

typedef struct hak_trap_slot {
    uint32_t size, offset; /* of the block within the page */
    hak_trap_event allocated, freed;
} hak_trap_slot;

typedef struct hak_trap_pool {
    uintptr_t start; /* of the first page that faults; 0: there is no pool */
    size_t size;
    hak_trap_slot *slots;
    _Atomic uint64_t words[HAK_TRAP_SLOTS];
} hak_trap_pool;
extern HAK_HIDDEN hak_trap_pool hak_traps;

/* The calling thread does it, just now. */
void hak_trap_note(hak_trap_event *event);

/* Maps the pool, once. False: out of memory. */
bool hak_trap_open(void);

HAK_INLINE bool hak_trap_holds(const void *address) {
    return (uintptr_t)address - hak_traps.start < hak_traps.size;
}

HAK_INLINE char *hak_trap_page(size_t slot) {
    return (char *)hak_traps.start + (2 * slot + 1) * hak_os_page_size();
}

HAK_INLINE char *hak_trap_start(size_t slot) {
    return hak_trap_page(slot) + hak_traps.slots[slot].offset;
}

/* The slot whose page an address lies in, or the one nearest to it that is or was in use. */
size_t hak_trap_slot_at(const void *address);

enum hak_trap_state hak_trap_state_of(size_t slot);
/* False: never since the pool was mapped. */
bool hak_trap_was_used(size_t slot);

/* The slot that has been free for longest, BUSY now; HAK_TRAP_SLOTS: none may be taken. */
size_t hak_trap_claim(void);

/* Takes a slot from one state to the next. False: it was in another one. */
bool hak_trap_pass(size_t slot, enum hak_trap_state from, enum hak_trap_state to);

void hak_trap_retire(size_t slot);

/* ---- what is said about a misuse, on stderr, with the stacks of who did it: trap/report.c ---- */

/* Reports, and ends the program. */
_Noreturn HAK_COLD void hak_trap_end(const char *what, const char *function, const void *address,
                                     size_t slot);

/* Reports a fault in the pool; returns at any other. */
HAK_COLD void hak_trap_explain(const void *address);
