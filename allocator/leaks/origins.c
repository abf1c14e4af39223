#include "leaks/origins.h"

#include "os/os.h"

#include <errno.h>
#include <stdatomic.h>

enum { SLOTS = 4 * HAK_ORIGINS, LONGEST = 256 };
static hak_stack *stacks;
static _Atomic uint32_t *slots;
static _Atomic uint32_t last;

bool hak_origins_open(void) {
    slots = hak_os_map_once(slots, SLOTS * sizeof *slots);
    stacks = hak_os_map_once(stacks, HAK_ORIGINS * sizeof *stacks);
    return slots != NULL && stacks != NULL;
}

/* A number for a stack that is new; 0: there are no more. */
static uint32_t keep(const hak_stack *stack) {
    if (atomic_load_explicit(&last, memory_order_relaxed) >= HAK_ORIGINS - 1)
        return 0;
    uint32_t number = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
    if (number >= HAK_ORIGINS)
        return 0;
    hak_stack_copy(&stacks[number], stack);
    return number;
}

/* Of two threads that come with the same new stack at once, one has kept it for nothing. */
static uint32_t origin_of(const hak_stack *stack) {
    uint64_t hash = hak_stack_hash(0, stack);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < LONGEST; i++) {
        _Atomic uint32_t *slot = &slots[(hash + i) % SLOTS];
        uint32_t number = atomic_load_explicit(slot, memory_order_acquire);
        if (number == 0 && kept == 0 && (kept = keep(stack)) == 0)
            return 0;
        if (number == 0 && atomic_compare_exchange_strong(slot, &number, kept))
            return kept;
        if (hak_stack_is(&stacks[number], stack))
            return number;
    }
    return 0;
}

uint32_t hak_origin_here(void) {
    hak_stack stack;
    int saved_errno = errno;
    hak_stack_take(&stack);
    errno = saved_errno;
    return stack.depth != 0 ? origin_of(&stack) : 0;
}

const hak_stack *hak_origin_stack(uint32_t number) {
    return number != 0 ? &stacks[number] : NULL;
}
