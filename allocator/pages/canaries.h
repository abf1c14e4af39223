/* Hardened builds: with HAKMEM_CANARIES=1 secret bytes lie behind what was asked for, in each block
 * of a class. Whoever gets the block back looks whether they are unchanged.
 *
 *   | what was asked for | key      |  never written      | key + slack * odd |
 *   block                ^ size                           ^ room - 8          ^ room of the class
 *                        |------------- slack ------------|
 *
 * The key is eight bytes that come from a secret and the address. Its first byte is never 0,
 * because a 0 is what programs most often write too far. The last word says where the first one is.
 * Where the slack is shorter than a word, the last word covers the end of the first.
 *
 * The mark of a block says whether it has a canary (pages/mark.h), so blocks from before the start
 * of the library come back like others. free takes a canary away, so that nobody finds one in
 * memory that is not yet written to. Large blocks have none.
 *
 * Sources: per block as in Robertson et al., "Run-time Detection of Heap-based Overflows" (2003);
 * eight bytes at the end, as in GrapheneOS' hardened_malloc, which has one value for each slab. */
#pragma once

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>

/* Bytes that a block has beyond what was asked for: 8, or 0 where there are no canaries. Set once,
 * at load. */
extern HAK_HIDDEN size_t hak_canaries;
HAK_INLINE size_t hak_canary_bytes(void) {
    return HAK_HARDENED ? hak_canaries : 0;
}

/* Reads the option. True: there are canaries from now on. */
bool hak_canaries_begin(void);

/* Writes the canary of a block that has room for `size` bytes and hak_canaries more, and returns
 * the block; NULL is allowed. */
void *hak_canary_write(void *block, size_t size);

/* Writes it anew, behind other bytes, if there is one. NULL and large blocks are allowed. */
void *hak_canary_move(void *block, size_t size);

/* Bytes that the program may use of a block of a class. Ends the program, naming `function`, if it
 * has no block that begins here, or if the canary was written to. */
size_t hak_canary_size(const char *function, const void *block);

/* A block of a class comes back: what is left is one without canary. Ends the program as above;
 * whether a block begins here is looked at only if there is a canary. */
void hak_canary_take(void *block);
