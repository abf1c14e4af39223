/* The links of remote chains. In guard builds they are encoded with the place where they lie and a
 * secret of the process: whoever writes to a freed block cannot say where the chain goes on, and a
 * link that was written to leads nowhere, which is noticed. */
#ifndef HAK_COLD_LINK_H
#define HAK_COLD_LINK_H

#include "base/types.h"
#include "os/guard.h"

HAK_INLINE uintptr_t hak_link_key(const hak_link *link) {
    return HAK_GUARD ? (uintptr_t)hak_os_secret() ^ ((uintptr_t)link >> 4) : 0;
}

HAK_INLINE hak_link *hak_link_next(const hak_link *link) {
    return (hak_link *)((uintptr_t)link->next ^ hak_link_key(link));
}

HAK_INLINE void hak_link_to(hak_link *link, const hak_link *next) {
    link->next = (hak_link *)((uintptr_t)next ^ hak_link_key(link));
}

#endif
