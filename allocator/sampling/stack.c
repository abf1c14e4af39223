#include "sampling/stack.h"

#include "os/secret.h"

#include <string.h>

uint64_t hak_stack_hash(uint64_t start, const hak_stack *stack) {
    uint64_t hash = hak_mixed(start ^ stack->depth);
    for (unsigned i = 0; i < stack->depth; i++)
        hash = hak_mixed(hash ^ (uintptr_t)stack->frames[i]);
    return hash;
}

bool hak_stack_is(const hak_stack *known, const hak_stack *stack) {
    return known->depth == stack->depth &&
           memcmp(known->frames, stack->frames, stack->depth * sizeof(void *)) == 0;
}
