/* What all forms of operator new do, with and without exceptions. Alignment 0: 16 bytes are enough.
 */
#pragma once

#include "base/attributes.h"
#include "guard/guard.h"

void *hak_cxx_new(size_t size, size_t alignment);
void *hak_cxx_new_or_null(size_t size, size_t alignment, const void *tag);

#define HAK_CXX_OPERATOR(type, id, mangled, parameters, body)                                      \
    HAK_CXX_NAME(type, id, mangled, parameters);                                                   \
    type id parameters {                                                                           \
        body;                                                                                      \
    }

/* Production has no use for the name of the operator. */
HAK_INLINE void *hak_cxx_named(void *block, enum hak_family family) {
    if (HAK_GUARD)
        hak_guard_name(block, family);
    return block;
}
