/* How blocks are taken out of a magazine whose owner may use it meanwhile.
 *
 * From the moment that a heap is robbed (heap/owner.h) its owner can only pop and push, and goes to
 * a slow path, where it waits, as soon as it pops a NULL:
 *
 *   pop:  b = *t; if b is NULL: wait; t = t - 1        writes no slot
 *   push: t[1] = b; t = t + 1                          writes the slot above t
 *
 * Here t is the top. With a block in hand it is the slot below, and "pop" means to take a block in
 * hand, "push" that another block comes upon it; what is in hand stays the owner's:
 *
 *   pop:  b = hand; n = *t; if n is NULL: wait; hand, t = n, t - 1      both by one store
 *   push: t[1] = hand; hand, t = b, t + 1
 *
 *   1. The reclaimer exchanges slots below the top, oldest first, for NULL, and remembers what was
 *      in them.                                                   first barrier: B1
 *   2. It reads t.                                                second barrier: B2
 *   3. It looks at those slots again.
 *
 *   | NULL |  1   |  2   |  3   |  4   |  5   |      exchanged: 1 to 4
 *                                   ^ t              ours: 1 to 3; 4 goes back; 5 was never taken
 *
 * Let s be such a slot and v what the exchange found there. Three facts:
 *   (a) Only pushes write to slots, and never NULL. So s is NULL at step 3 only if no push that the
 *       owner made before B2 wrote to it after the exchange.
 *   (b) t crosses from below s to s by a push to s alone.
 *   (c) A pop that reads s after B1 finds NULL, or what was pushed after the exchange. So v was
 *       popped before B1, or by the one pop that B1 found between its loads and its store, or
 *       not at all.
 *
 * Not NULL at step 3: v is not ours. The owner has pushed there since, so t had been below s, and v
 * was popped, or was an old value above t.
 *
 * NULL, and s < t: v is ours. Had it been popped, by a pop before B1 or the one amid it, then t
 * would have been below s and would have crossed it (b), by a push to s. B2 makes that push
 * visible, in whatever order the owner's stores left its processor, so s would not be NULL. And
 * nobody can pop v any more (c).
 *
 * NULL, and s = t: B1 may have found the owner amid the pop of v.
 * NULL, and s > t: v is an old value, or B1 found the owner amid the push of v, with its slot
 * written and its t not.
 * None of these last ones can be told apart, and need not be: v goes back by compare-and-swap.
 * Above t it does no harm, and when the swap fails, the owner has pushed there since, see above. So
 * all values may go back, too, when a barrier is refused.
 *
 * Where malloc is led away (magazine/arm.h) the owner can only push until it has been to a slow
 * path, and was not amid a pop when it came from there. Then t never falls, so no s > t is
 * exchanged, and what was exchanged has not been popped: NULL, and s = t: v is ours, too. B1 may
 * have found the owner amid the push of v to s: it was in the magazine as soon as t = s.
 *
 * tests/allocator/boxes/reclaim_model.c tries all interleavings of small cases. */
#include "reclaim/robbed_magazines.h"

#include "bin/give.h"
#include "magazine/arm.h"
#include "os/barrier.h"
#include "os/os.h"

enum {
    VALUES = 4096, /* taken out of their magazines between two barriers */
    PARTS = 128    /* of magazines */
};

/* Slots `from` and following of a magazine, and what was in them. */
typedef struct part {
    hak_heap *heap;
    unsigned cls;
    void **from, **end; /* those in front of `end` are ours, if they stay NULL */
    size_t count, at;   /* values[at] ... */
} part;

/* All under the lock. */
static size_t part_count, value_count;
static part parts[PARTS];
static void *values[VALUES];

/* ---- 1: out of the magazines ---- */

static void exchange(part *p) {
    for (size_t i = 0; i < p->count; i++)
        values[p->at + i] = __atomic_exchange_n(&p->from[i], NULL, __ATOMIC_ACQ_REL);
}

/* The end of the slots that can be taken: the newest block stays where its owner may pop it. */
static void **end_of(hak_heap *heap, unsigned cls) {
    void **top = __atomic_load_n(&heap->top[cls], __ATOMIC_ACQUIRE);
    if (HAK_HAND)
        top += (ptrdiff_t)hak_hand_count(__atomic_load_n(&heap->hand[cls], __ATOMIC_ACQUIRE)) - 1;
    return top + hak_malloc_is_led_away(heap, cls);
}

/* False: there is no room for all of them. */
static bool gather_below(hak_heap *heap, unsigned cls, void **end) {
    void **from = heap->bins[cls].bottom + 1;
    while (from < end && __atomic_load_n(from, __ATOMIC_RELAXED) == NULL)
        from++;
    size_t count = from < end ? (size_t)(end - from) : 0, room = VALUES - value_count;
    if (count == 0)
        return true;
    if (room == 0 || part_count == PARTS)
        return false;
    part *p = &parts[part_count++];
    *p = (part){heap, cls, from, NULL, count < room ? count : room, value_count};
    value_count += p->count;
    exchange(p);
    return p->count == count;
}

/* The hot path does not come to an armed magazine. Of its slots nothing is wanted but that they
 * read NULL, so they need no memory. */
static void empty_armed(hak_heap *heap, unsigned cls) {
    void **first = heap->bins[cls].bottom + 1;
    size_t count = (size_t)(heap->bins[cls].held_top + 1 - first);
    if (count != 0)
        hak_give_back(heap, cls, first, count);
    hak_os_purge_within(first, first + count);
    heap->bins[cls].held_top = heap->bins[cls].bottom;
}

static bool gather_class(hak_heap *heap, unsigned cls) {
    if (!hak_is_armed(heap, cls))
        return gather_below(heap, cls, end_of(heap, cls));
    empty_armed(heap, cls);
    return true;
}

static bool gather(hak_heap *heap) {
    unsigned cls = 1;
    while (cls < HAK_CLASSES && gather_class(heap, cls))
        cls++;
    return cls == HAK_CLASSES;
}

/* ---- 2 and 3: whose they are ---- */

static void put_back(void **slot, void *value) {
    void *none = NULL;
    __atomic_compare_exchange_n(slot, &none, value, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* Moves the values that are ours to the front. Returns how many. */
static size_t settle(part *p, bool decided) {
    size_t ours = 0;
    for (size_t i = 0; i < p->count; i++) {
        void **slot = p->from + i, *value = values[p->at + i];
        if (value == NULL || __atomic_load_n(slot, __ATOMIC_ACQUIRE) != NULL)
            continue;
        if (decided && slot < p->end)
            values[p->at + ours++] = value;
        else
            put_back(slot, value);
    }
    return ours;
}

static void give(part *p, bool decided) {
    size_t ours = settle(p, decided);
    atomic_fetch_or_explicit(&p->heap->claim, HAK_CLAIM_HOLES, memory_order_relaxed);
    if (ours == 0)
        return;
    hak_give_back(p->heap, p->cls, &values[p->at], ours);
    if (ours == p->count) /* until the owner closes the hole */
        hak_os_purge_within(p->from, p->from + p->count);
}

size_t hak_robbed_empty_some(hak_robbed *robbed) {
    part_count = value_count = 0;
    for (size_t i = 0; i < robbed->count; i++)
        robbed->are_empty[i] = robbed->are_empty[i] || gather(robbed->heaps[i]);
    if (part_count == 0)
        return 0;
    bool decided = hak_os_barrier();
    for (size_t i = 0; i < part_count; i++)
        parts[i].end = end_of(parts[i].heap, parts[i].cls);
    decided = decided && hak_os_barrier();
    for (size_t i = 0; i < part_count; i++)
        give(&parts[i], decided);
    return decided ? value_count : 0;
}
