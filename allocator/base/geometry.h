/* Geometry: every constant that says how memory is cut. It stands here and nowhere else.
 *
 *   range     a stretch of address space that grows in place; further ones when it is full
 *   segment   2 MiB of a range; what is committed and offered to transparent huge pages
 *   page      64 KiB of a segment; what a size class or a large block owns
 *   block     what malloc returns
 *
 * A profile may name tables of its own, of constants (HAK_CONSTANT_TABLE) and of size classes
 * (HAK_CLASS_TABLE). Combinations that cannot work are refused at compile time: docs/geometry.md.
 */
#pragma once

#include "base/variant.h"

#include <stddef.h>
#include <stdint.h>

#ifndef HAK_CONSTANT_TABLE
#define HAK_CONSTANT_TABLE "base/constants.def"
#endif
#ifndef HAK_CLASS_TABLE
#define HAK_CLASS_TABLE "base/classes.def"
#endif

#define HAK_CONSTANT(name, value, lowest, highest, help) name = (value),
enum {
#include HAK_CONSTANT_TABLE
};
#undef HAK_CONSTANT
#define HAK_CONSTANT(name, value, lowest, highest, help)                                           \
    _Static_assert((name) >= (lowest) && (name) <= (highest),                                      \
                   #name " must be from " #lowest " to " #highest);
#include HAK_CONSTANT_TABLE
#undef HAK_CONSTANT

#define HAK_PAGE_SIZE ((size_t)1 << HAK_PAGE_SHIFT)
#define HAK_PAGES_PER_SEGMENT 32u
#define HAK_SEGMENT_SHIFT (HAK_PAGE_SHIFT + 5)
#define HAK_SEGMENT_SIZE ((size_t)1 << HAK_SEGMENT_SHIFT)

/* Alignment of every block: what max_align_t asks for on the systems we build for. */
#define HAK_MIN_ALIGN 16u

/* Sizes up to HAK_SMALL_MAX find their class in steps of 16 bytes, inside malloc itself; sizes up
 * to HAK_MEDIUM_MAX in steps of 256 bytes, one call further. Beyond: whole pages (large). */
#define HAK_SMALL_STEP_SHIFT 4
#define HAK_SMALL_MAX ((size_t)2048)
#define HAK_MEDIUM_STEP_SHIFT 8
#define HAK_MEDIUM_MAX ((size_t)65536)
#define HAK_SMALL_STEP ((size_t)1 << HAK_SMALL_STEP_SHIFT)
#define HAK_MEDIUM_STEP ((size_t)1 << HAK_MEDIUM_STEP_SHIFT)
#define HAK_SMALL_STEPS ((HAK_SMALL_MAX >> HAK_SMALL_STEP_SHIFT) + 1)
#define HAK_MEDIUM_STEPS ((HAK_MEDIUM_MAX >> HAK_MEDIUM_STEP_SHIFT) + 1)

/* A slab has a bitmap of its free blocks: 64 words, so that one more word can say which of them
 * are not zero. */
#define HAK_BITMAP_WORDS 64u
#define HAK_SLAB_MAX_BLOCKS (HAK_BITMAP_WORDS * 64u)

/* Guard and research builds keep all blocks of a size together. */
#define HAK_HINTS (HAK_GUARD + HAK_RESEARCH == 0)

/* Rows of the table have no numbers: what is named after one has its line in the name. */
#define HAK_JOIN(name, line) name##line
#define HAK_JOINED(name, line) HAK_JOIN(name, line)
#define HAK_ROW(name) HAK_JOINED(name, __LINE__)

#define HAK_CLASS(size, pages, depth) HAK_ROW(HAK_CLASS_),
#define HAK_COLD_CLASS(size, pages, depth) HAK_COLD_CLASS_##size,
enum {
    HAK_CLASS_NONE, /* not a size class: large, free or foreign */
#include HAK_CLASS_TABLE
    HAK_FIRST_COLD, /* number of those that sizes lead to, HAK_CLASS_NONE included */
    HAK_LAST_SIZED = HAK_FIRST_COLD - 1,
#include "base/cold_classes.def"
    HAK_CLASSES /* number of all classes */
};
#undef HAK_COLD_CLASS
#undef HAK_CLASS

/* Bytes that a guard build sets aside for each page: for each block that it may hold eight, and
 * behind all of these four more, which are not touched unless leaks are looked for. */
#define HAK_RECORD_BYTES ((size_t)HAK_SLAB_MAX_BLOCKS * 12)

/* Slots that the magazine of a class may grow to: HAK_DEEP_BYTES of small blocks. For larger ones
 * the bytes shrink with the size from 128 bytes on, down to HAK_DEEP_TIMES of the usual depth. */
#define HAK_DEEP_FOR(size)                                                                         \
    ((size) <= 128 ? (unsigned)HAK_DEEP_BYTES / (size)                                             \
                   : (unsigned)((uint64_t)HAK_DEEP_BYTES * 128 / (size) / (size)))
#define HAK_DEEP_LEAST(depth) ((unsigned)HAK_DEEP_TIMES * (depth))
#define HAK_DEEP_WISH(size, depth)                                                                 \
    (HAK_DEEP_FOR(size) > HAK_DEEP_LEAST(depth) ? HAK_DEEP_FOR(size) : HAK_DEEP_LEAST(depth))
#define HAK_DEEPEST(size, depth)                                                                   \
    (HAK_DEEP_WISH(size, depth) > HAK_DEEP_MOST ? (unsigned)HAK_DEEP_MOST                          \
                                                : HAK_DEEP_WISH(size, depth))
/* Below the first slot of each magazine, these stay empty. */
#define HAK_EMPTY_SLOTS (HAK_HAND ? 2 : 1)
/* Slots of the places in which they begin; that of HAK_CLASS_NONE is never used. */
#define HAK_CLASS(size, pages, depth)                                                              \
    +((depth) < HAK_SMALL_DEPTH ? (depth) : HAK_SMALL_DEPTH) + HAK_EMPTY_SLOTS
enum {
    HAK_SMALL_SLOTS = HAK_EMPTY_SLOTS
#include HAK_CLASS_TABLE
};
#undef HAK_CLASS
/* Slots of the places in which the magazines of a thread grow up to their usual depth, at most
 * (magazine/magazine.h): each place is four times as large as the one before it, or more than half
 * of the usual depth and the last one. */
#define HAK_CLASS(size, pages, depth) +(depth) + (depth) * 2 / 3 + HAK_GROWN_PLACES *HAK_EMPTY_SLOTS
#define HAK_COLD_CLASS(size, pages, depth) HAK_CLASS(size, pages, depth)
enum {
    HAK_GROWN_PLACES = 6,
    HAK_GROWN_SLOTS = 0
#include HAK_CLASS_TABLE
#include "base/cold_classes.def"
};
#undef HAK_COLD_CLASS
#undef HAK_CLASS
/* Where the deep magazine of each class begins, and the slots of all: the deepest of each, and
 * those below that stay empty. An enumerator is one more than the one before it, which is the last
 * slot of its magazine. Those of cold classes stay at their usual depth. */
#define HAK_CLASS(size, pages, depth)                                                              \
    HAK_ROW(HAK_FIRST_SLOT_),                                                                      \
        HAK_ROW(HAK_LAST_SLOT_) =                                                                  \
            HAK_ROW(HAK_FIRST_SLOT_) + HAK_DEEPEST(size, depth) + HAK_EMPTY_SLOTS - 1,
enum {
    HAK_FIRST_SLOT_NONE,
#include HAK_CLASS_TABLE
    HAK_MAGAZINE_SLOTS
};
#undef HAK_CLASS

/* A class fits into one byte of the class map. */
#define HAK_CLASS_LIMIT 256u
_Static_assert(HAK_CLASSES <= HAK_CLASS_LIMIT - 1,
               "there may be at most 254 classes, cold ones included");
/* An enumerator's value is one more than its predecessor's: the least size that may follow. */
#define HAK_CLASS(size, pages, depth) HAK_ROW(HAK_LEAST_), HAK_ROW(HAK_SIZE_) = (size),
enum {
    HAK_SIZE_NONE,
#include HAK_CLASS_TABLE
    HAK_LEAST_BEYOND
};
#undef HAK_CLASS
_Static_assert(HAK_LEAST_BEYOND == HAK_MEDIUM_MAX + 1, "the last class must be of 65536 bytes");
#define HAK_CLASS(size, pages, depth)                                                              \
    _Static_assert((size) >= HAK_ROW(HAK_LEAST_),                                                  \
                   "class of " #size " bytes: sizes must rise from class to class");               \
    _Static_assert((size) % HAK_MIN_ALIGN == 0,                                                    \
                   "class of " #size " bytes: size must be a multiple of 16");                     \
    _Static_assert((size) <= HAK_MEDIUM_MAX,                                                       \
                   "class of " #size " bytes: size must be at most 65536");                        \
    _Static_assert((size) <= HAK_SMALL_MAX || (size) % (1 << HAK_MEDIUM_STEP_SHIFT) == 0,          \
                   "class of " #size " bytes: sizes above 2048 must be multiples of 256");         \
    _Static_assert((pages) >= 1 && (pages) <= HAK_PAGES_PER_SEGMENT,                               \
                   "class of " #size " bytes: a slab must have 1 to 32 pages");                    \
    _Static_assert((pages) * HAK_PAGE_SIZE / (size) <= HAK_SLAB_MAX_BLOCKS,                        \
                   "class of " #size " bytes: at most 4096 blocks in a slab");                     \
    _Static_assert((depth) >= 2 && (depth) <= 1024,                                                \
                   "class of " #size " bytes: depth must be 2 to 1024");
#include HAK_CLASS_TABLE
#undef HAK_CLASS
