/* Functions that call others of the family with other arguments, alike in all variants. */
#include "base/bits.h"
#include "guard/guard.h"
#include "include/hakmem.h"
#include "os/os.h"
#include "stats/stats.h"

/* What the gate refers to, so that a static link takes this file too. */
void hak_relatives(void);
void hak_relatives(void) {}

HAK_EXPORT void *hak_valloc(size_t size) {
    return hak_memalign(hak_os_page_size(), size);
}

HAK_EXPORT void *hak_pvalloc(size_t size) {
    if (size > PTRDIFF_MAX)
        return hak_refuse(size);
    return hak_valloc(hak_round_up(size != 0 ? size : 1, hak_os_page_size()));
}

HAK_EXPORT void hak_free_sized(void *block, size_t size) {
    hak_free_as(block, &(hak_free_call){"free_sized", size, 1, HAK_FROM_MALLOC});
}

HAK_EXPORT void hak_free_aligned_sized(void *block, size_t alignment, size_t size) {
    hak_free_as(block, &(hak_free_call){"free_aligned_sized", size, alignment, HAK_FROM_MALLOC});
}

HAK_LIBC_NAMES(valloc)
HAK_LIBC_NAMES(pvalloc)
HAK_LIBC_NAME(free_sized)
HAK_LIBC_NAME(free_aligned_sized)
