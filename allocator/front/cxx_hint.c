/* operator new with a hint how often the block will be used, as LLVM's MemProf found out, and
 * operator new that tells the size of the block, under the names that LLVM and tcmalloc have for
 * them.
 *
 * A hint is a byte: 0 is the coldest, 255 the hottest. Cold blocks have classes, and so slabs, of
 * their own: base/cold_classes.def. All others are those of operator new without a hint. */
#include "base/classes.h"
#include "front/cxx.h"
#include "front/refill.h"
#include "include/hakmem.h"

typedef unsigned char heat;

/* LLVM passes 1 where the profile says cold, 128 where it says not cold, 222 where it says both and
 * 254 where it says hot. Below 128 tcmalloc takes a block for cold, too. Sources: LLVM,
 * SimplifyLibCalls.cpp (-cold-new-hint-value and its relatives); tcmalloc, IsColdHint of common.h.
 */
enum { HAK_FIRST_HOT = 128 };

/* NULL: the block is not cold, or is to be had without a hint alone. */
static void *take_cold(size_t size, size_t alignment, heat hint) {
    if (!HAK_HINTS || hint >= HAK_FIRST_HOT)
        return NULL;
    unsigned cls = hak_class_aligned(HAK_FIRST_COLD, HAK_CLASSES, size,
                                     alignment != 0 ? alignment : HAK_MIN_ALIGN);
    return cls != HAK_CLASSES ? hak_refill_cold(cls) : NULL;
}

static void *new_by(heat hint, size_t size, size_t alignment) {
    void *block = take_cold(size, alignment, hint);
    return block != NULL ? block : hak_cxx_new(size, alignment);
}

static void *new_or_null_by(heat hint, size_t size, size_t alignment, const void *tag) {
    void *block = take_cold(size, alignment, hint);
    return block != NULL ? block : hak_cxx_new_or_null(size, alignment, tag);
}

#define HINT_NEW(id, mangled, family)                                                              \
    HAK_EXPORT void *id(size_t size, heat hint) __asm__(mangled "12__hot_cold_t");                 \
    void *id(size_t size, heat hint) {                                                             \
        return hak_cxx_named(new_by(hint, size, 0), family);                                       \
    }
#define HINT_NEW_NOTHROW(id, mangled, family)                                                      \
    HAK_EXPORT void *id(size_t size, const void *tag,                                              \
                        heat hint) __asm__(mangled "12__hot_cold_t");                              \
    void *id(size_t size, const void *tag, heat hint) {                                            \
        return hak_cxx_named(new_or_null_by(hint, size, 0, tag), family);                          \
    }
#define HINT_NEW_ALIGNED(id, mangled, family)                                                      \
    HAK_EXPORT void *id(size_t size, size_t alignment,                                             \
                        heat hint) __asm__(mangled "12__hot_cold_t");                              \
    void *id(size_t size, size_t alignment, heat hint) {                                           \
        return hak_cxx_named(new_by(hint, size, alignment), family);                               \
    }
#define HINT_NEW_ALIGNED_NOTHROW(id, mangled, family)                                              \
    HAK_EXPORT void *id(size_t size, size_t alignment, const void *tag,                            \
                        heat hint) __asm__(mangled "12__hot_cold_t");                              \
    void *id(size_t size, size_t alignment, const void *tag, heat hint) {                          \
        return hak_cxx_named(new_or_null_by(hint, size, alignment, tag), family);                  \
    }

typedef struct sized_block {
    void *block;
    size_t size;
} sized_block;

#define SIZE_RETURNING(name, parameters, alignment)                                                \
    HAK_EXPORT sized_block name parameters;                                                        \
    sized_block name parameters {                                                                  \
        void *block = hak_cxx_named(hak_cxx_new(size, alignment), HAK_FROM_NEW);                   \
        return (sized_block){block, hak_malloc_usable_size(block)};                                \
    }
#define SIZE_RETURNING_HINT(name, parameters, alignment)                                           \
    HAK_EXPORT sized_block name parameters;                                                        \
    sized_block name parameters {                                                                  \
        void *block = hak_cxx_named(new_by(hint, size, alignment), HAK_FROM_NEW);                  \
        return (sized_block){block, hak_malloc_usable_size(block)};                                \
    }

#if HAK_REPLACE

HINT_NEW(hint_new, "_Znwm", HAK_FROM_NEW)
HINT_NEW(hint_new_array, "_Znam", HAK_FROM_NEW_ARRAY)
HINT_NEW_NOTHROW(hint_new_nothrow, "_ZnwmRKSt9nothrow_t", HAK_FROM_NEW)
HINT_NEW_NOTHROW(hint_new_array_nothrow, "_ZnamRKSt9nothrow_t", HAK_FROM_NEW_ARRAY)
HINT_NEW_ALIGNED(hint_new_aligned, "_ZnwmSt11align_val_t", HAK_FROM_NEW)
HINT_NEW_ALIGNED(hint_new_array_aligned, "_ZnamSt11align_val_t", HAK_FROM_NEW_ARRAY)
HINT_NEW_ALIGNED_NOTHROW(hint_new_aligned_nothrow, "_ZnwmSt11align_val_tRKSt9nothrow_t",
                         HAK_FROM_NEW)
HINT_NEW_ALIGNED_NOTHROW(hint_new_array_aligned_nothrow, "_ZnamSt11align_val_tRKSt9nothrow_t",
                         HAK_FROM_NEW_ARRAY)

SIZE_RETURNING(__size_returning_new, (size_t size), 0)
SIZE_RETURNING(__size_returning_new_aligned, (size_t size, size_t alignment), alignment)
SIZE_RETURNING_HINT(__size_returning_new_hot_cold, (size_t size, heat hint), 0)
SIZE_RETURNING_HINT(__size_returning_new_aligned_hot_cold,
                    (size_t size, size_t alignment, heat hint), alignment)

#endif
