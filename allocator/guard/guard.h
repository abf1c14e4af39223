/* The guard box: a wrapper around the core that finds misuse.
 *
 *   malloc(n)  the core gives a block of n bytes and a canary; another block of its class, taken
 *              at random from a few, is handed out instead; a record beside the heap says how
 *              large it is, how it is aligned and who asked for it
 *   free(p)    the record says whether a block begins at p, is in use and was asked for by the same
 *              family of functions; the canary is looked at; the block is filled with a pattern and
 *              goes to the quarantine, where it takes the place of another one at random
 *   that one   must still hold its pattern, and goes back to the core
 *
 *   | ... n bytes ... | canary ... |          a block of a slab, up to the end of its class's size
 *   | ... n bytes ... | canary | no access |  a large one: pages that fault, then the next block
 *
 * Large blocks in quarantine have no memory and fault when they are touched. Nothing of the guard
 * lies in a block but canary and pattern. No lock is taken: places change by atomic exchange, so
 * the guard adds nothing to what fork and ending threads have to look after. */
#pragma once

#include "base/attributes.h"
#include "include/hakmem.h"
#include "report/snapshot.h"

/* Who asked for a block, and so who may free it. */
enum hak_family { HAK_FROM_MALLOC, HAK_FROM_NEW, HAK_FROM_NEW_ARRAY };

typedef struct hak_wish {
    void *(*from)(size_t alignment, size_t size); /* what serves it; NULL: the core's malloc */
    size_t size, alignment;
    size_t spare; /* bytes that it may grow by in place */
    enum hak_family family;
    bool zero; /* to be filled with zeroes; not for what `from` gives out zeroed */
} hak_wish;

/* What the caller of a free says about the block. */
typedef struct hak_free_call {
    const char *function; /* for the message */
    size_t size;          /* SIZE_MAX: says nothing */
    size_t alignment;     /* 0: says nothing; 1: the usual one */
    enum hak_family family;
} hak_free_call;

/* NULL and errno as the core sets it. Any thread. */
void *hak_guard_allocate(const hak_wish *wish);

/* Ends the program unless `block` is one in use that fits the claim; NULL is allowed. errno is
 * kept. Any thread. */
void hak_guard_free(void *block, const hak_free_call *claim);

/* In production size, alignment and family say nothing that the page does not know. */
HAK_INLINE void hak_free_as(void *block, const hak_free_call *claim) {
    if (HAK_GUARD)
        hak_guard_free(block, claim);
    else
        hak_free(block);
}

/* Bytes that were asked for. Ends the program, naming `function`, as hak_guard_free does. */
size_t hak_guard_size(const void *block, const char *function);

/* realloc of a block in use to a size that is not zero. */
void *hak_guard_resize(void *block, size_t size);

/* Says which of C++'s operators has asked for the block; NULL is allowed. */
void hak_guard_name(void *block, enum hak_family family);

/* Says in a snapshot what the guard keeps back. */
void hak_guard_discount(hak_snapshot *snapshot);

/* Looks at every block in quarantine and in use; ends the program when one was written to where it
 * must not be. Other threads may go on. */
void hak_guard_sweep(void);
