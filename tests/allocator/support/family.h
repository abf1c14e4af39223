/* The names of allocator/front/family.def as texts. */
#ifndef HAKMEM_TESTS_FAMILY_H
#define HAKMEM_TESTS_FAMILY_H

#include <stddef.h>

static const char *const family_names[] = {
#define HAK_FAMILY(name) #name,
#include "../../../allocator/front/family.def"
#undef HAK_FAMILY
    NULL};

#endif
