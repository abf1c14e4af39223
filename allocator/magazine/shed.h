/* Classes that become smaller while they are in use.
 *
 * A magazine hands out what was freed last, wherever that lies. Where a program frees two blocks of
 * a class for each that it allocates, because the sizes it uses change, every slab so loses half of
 * its blocks and none becomes empty: the class keeps the memory of its highest time. Such a class
 * *sheds* for a while: malloc fills the slab in which the first free came longest ago, up to the
 * last block, and what is freed goes back to all the others, which run empty.
 *
 *   malloc <- | oldest slab |     free -> | magazine | -> all of it, once it is full -> slabs
 *
 * Free is as fast as ever; malloc comes to the slow path each time. All functions are for the
 * heap's owner. */
#ifndef HAK_MAGAZINE_SHED_H
#define HAK_MAGAZINE_SHED_H

#include "base/types.h"

/* A magazine has given `blocks` blocks of its heap back. When that happens again and again, with
 * mallocs in between that it served, the class sheds. True: it begins to. */
bool hak_shed_note_spill(hak_heap *heap, unsigned cls, size_t blocks);

/* Slots of the magazine of a class that sheds. */
unsigned hak_shed_depth(unsigned cls);

/* Malloc came by. True: the class sheds, and the block is to come from its oldest slab. */
bool hak_shed_wants(hak_heap *heap, unsigned cls);

/* Nothing has been seen of the class: its magazine was refilled, or the thread has ended. */
void hak_shed_forget(hak_heap *heap, unsigned cls);

#endif
