#include "leaks/origins.h"

#include "base/bits.h"
#include "os/os.h"
#include "os/stack.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

enum { SLOTS = 4 * HAK_ORIGINS, LONGEST = 256 };
static hak_stack *stacks;
static _Atomic uint32_t *slots;
static _Atomic uint32_t last;

bool hak_origins_open(void) {
    size_t page = hak_os_page_size();
    size_t slots_size = hak_round_up(SLOTS * sizeof *slots, page);
    size_t stacks_size = hak_round_up(HAK_ORIGINS * sizeof *stacks, page);
    char *both = stacks == NULL ? hak_os_map(slots_size + stacks_size, 1) : NULL;
    if (both == NULL)
        return stacks != NULL;
    slots = (_Atomic uint32_t *)(void *)both;
    stacks = (hak_stack *)(void *)(both + slots_size);
    return true;
}

static uint64_t hash_of(const hak_stack *stack) {
    uint64_t hash = stack->depth;
    for (unsigned i = 0; i < stack->depth; i++) {
        hash = (hash ^ (uintptr_t)stack->frames[i]) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    return hash;
}

static bool is_that(const hak_stack *known, const hak_stack *stack) {
    return known->depth == stack->depth &&
           memcmp(known->frames, stack->frames, stack->depth * sizeof(void *)) == 0;
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
uint32_t hak_origin_of(const hak_stack *stack) {
    uint64_t hash = hash_of(stack);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < LONGEST; i++) {
        _Atomic uint32_t *slot = &slots[(hash + i) % SLOTS];
        uint32_t number = atomic_load_explicit(slot, memory_order_acquire);
        if (number == 0 && kept == 0 && (kept = keep(stack)) == 0)
            return 0;
        if (number == 0 && atomic_compare_exchange_strong(slot, &number, kept))
            return kept;
        if (is_that(&stacks[number], stack))
            return number;
    }
    return 0;
}

uint32_t hak_origin_here(void) {
    int saved_errno = errno;
    hak_stack stack;
    stack.depth = hak_os_stack(stack.frames, HAK_STACK_MOST);
    errno = saved_errno;
    return stack.depth != 0 ? hak_origin_of(&stack) : 0;
}

const hak_stack *hak_origin_stack(uint32_t number) {
    return number != 0 ? &stacks[number] : NULL;
}
