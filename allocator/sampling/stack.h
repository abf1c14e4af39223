/* Call stacks: where a block was asked for, or freed. */
#pragma once

#include "os/stack.h"

#include <stdbool.h>
#include <stdint.h>

enum { HAK_STACK_MOST = 32 };
typedef struct hak_stack {
    unsigned depth;
    void *frames[HAK_STACK_MOST];
} hak_stack;

/* What lies behind `depth` stays as it is: who looks for leaks would find there what was left on
 * the stack of who took it. */
HAK_INLINE void hak_stack_copy(hak_stack *to, const hak_stack *from) {
    to->depth = from->depth;
    for (unsigned i = 0; i < from->depth; i++)
        to->frames[i] = from->frames[i];
}

HAK_INLINE void hak_stack_take(hak_stack *stack) {
    stack->depth = hak_os_stack(stack->frames, HAK_STACK_MOST);
}

/* A number that is another one for another stack or start, as a rule. */
uint64_t hak_stack_hash(uint64_t start, const hak_stack *stack);
bool hak_stack_is(const hak_stack *known, const hak_stack *stack);
