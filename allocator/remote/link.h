/* The words of a remote chain, which lie in freed blocks. They are encoded with the place of their
 * carrier and a secret of the process, and turned, so that the bytes which an overflow reaches
 * first are those that no address has:
 *
 *   in a block:   | bits 47..0 of the address | bits 63..48 |   both ^ key
 *                                               ^ at the lowest address
 *
 * Whoever writes to a freed block cannot say where the chain goes on; a word that was written to,
 * in part or as a whole, leads to none of our pages, and that is noticed. */
#pragma once

#include "base/types.h"
#include "os/secret.h"

enum { HAK_LINK_TURN = 16 };

/* The key of all words in a carrier. */
HAK_INLINE uintptr_t hak_link_key(const hak_link *carrier) {
    return hak_secret ^ ((uintptr_t)carrier >> 4);
}

HAK_INLINE void *hak_link_read(const hak_link *word, uintptr_t key) {
    uintptr_t x = (uintptr_t)word->next;
    return (void *)((x >> HAK_LINK_TURN | x << (64 - HAK_LINK_TURN)) ^ key);
}

HAK_INLINE void hak_link_write(hak_link *word, const void *block, uintptr_t key) {
    uintptr_t x = (uintptr_t)block ^ key;
    word->next = (hak_link *)(x << HAK_LINK_TURN | x >> (64 - HAK_LINK_TURN));
}
