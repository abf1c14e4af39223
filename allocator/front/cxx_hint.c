/* operator new with a hint how often the block will be used, as LLVM's MemProf found out, and
 * operator new that tells the size of the block, under the names that LLVM and tcmalloc have for
 * them.
 *
 * A hint is a byte: 0 is the coldest, 255 the hottest. Cold blocks have classes, and so slabs, of
 * their own: base/cold_classes.def. All others are those of operator new without a hint. */
#include "base/classes.h"
#include "front/cxx.h"
#include "front/doors.h"
#include "include/hakmem.h"

typedef unsigned char heat;

/* LLVM passes 1 where the profile says cold, 128 where it says not cold, 222 where it says both and
 * 254 where it says hot. Below 128 tcmalloc takes a block for cold, too. Sources: LLVM,
 * SimplifyLibCalls.cpp (-cold-new-hint-value and its relatives); tcmalloc, IsColdHint of common.h.
 */
enum { HAK_FIRST_HOT = 128 };

/* A longer block shares no page of the system with others that it could keep cold. */
static bool may_be_cold(size_t size, size_t alignment, heat hint) {
    return HAK_HINTS && hint < HAK_FIRST_HOT && hak_most(size, alignment) <= HAK_SMALL_MAX;
}

/* NULL: the block is not cold, or only the form without a hint can serve it. */
static void *take_cold(size_t size, size_t alignment, heat hint) {
    if (!may_be_cold(size, alignment, hint))
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

#define HINT_NEW(form, ending, parameters, block)                                                  \
    HAK_CXX_OPERATOR(void *, hint_new_##form, "_Znw" ending "12__hot_cold_t", parameters,          \
                     return hak_cxx_named(block, HAK_FROM_NEW))                                    \
    HAK_CXX_OPERATOR(void *, hint_new_array_##form, "_Zna" ending "12__hot_cold_t", parameters,    \
                     return hak_cxx_named(block, HAK_FROM_NEW_ARRAY))

typedef struct sized_block {
    void *block;
    size_t size;
} sized_block;

static sized_block sized(void *block) {
    hak_cxx_named(block, HAK_FROM_NEW);
    return (sized_block){block, hak_malloc_usable_size(block)};
}

#define SIZE_RETURNING(name, parameters, block)                                                    \
    HAK_CXX_OPERATOR(sized_block, size_returning_##name, "__size_returning_new" #name, parameters, \
                     return sized(block))

HINT_NEW(plain, "m", (size_t size, heat hint), new_by(hint, size, 0))
HINT_NEW(nothrow, "mRKSt9nothrow_t", (size_t size, const void *tag, heat hint),
         new_or_null_by(hint, size, 0, tag))
HINT_NEW(aligned, "mSt11align_val_t", (size_t size, size_t alignment, heat hint),
         new_by(hint, size, alignment))
HINT_NEW(aligned_nothrow, "mSt11align_val_tRKSt9nothrow_t",
         (size_t size, size_t alignment, const void *tag, heat hint),
         new_or_null_by(hint, size, alignment, tag))

SIZE_RETURNING(, (size_t size), hak_cxx_new(size, 0))
SIZE_RETURNING(_aligned, (size_t size, size_t alignment), hak_cxx_new(size, alignment))
SIZE_RETURNING(_hot_cold, (size_t size, heat hint), new_by(hint, size, 0))
SIZE_RETURNING(_aligned_hot_cold, (size_t size, size_t alignment, heat hint),
               new_by(hint, size, alignment))
