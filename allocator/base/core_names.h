/* The names under which the core of a wrapped build is compiled: see base/variant.h. */
#pragma once

#define hak_malloc hak_core_malloc
#define hak_calloc hak_core_calloc
#define hak_realloc hak_core_realloc
#define hak_reallocarray hak_core_reallocarray
#define hak_free hak_core_free
#define hak_posix_memalign hak_core_posix_memalign
#define hak_aligned_alloc hak_core_aligned_alloc
#define hak_memalign hak_core_memalign
#define hak_malloc_usable_size hak_core_malloc_usable_size
