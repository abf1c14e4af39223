/* The core of a wrapped build (base/variant.h), as its wrapper sees it: the functions of
 * include/hakmem.h, with their contracts, under names of their own. */
#pragma once

#include "base/attributes.h"
#include "include/hakmem.h"

#define HAK_CORE(name) extern __typeof__(hak_##name) hak_core_##name;
HAK_CORE(malloc)
HAK_CORE(calloc)
HAK_CORE(realloc)
HAK_CORE(free)
HAK_CORE(posix_memalign)
HAK_CORE(aligned_alloc)
HAK_CORE(memalign)
HAK_CORE(malloc_usable_size)
#undef HAK_CORE
