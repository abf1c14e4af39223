#include "front/zero_freed.h"

#include "base/classes.h"
#include "large/large.h"
#include "os/os.h"
#include "pages/excess.h"
#include "pages/mark.h"
#include "pages/range.h"
#include "policy/policy.h"

#include <string.h>

HAK_EARLY bool hak_zeroes_freed;

void hak_zero_freed_begin(void) {
    hak_zeroes_freed = hak_policy_now()->zero_freed != 0;
}

static void zero(void *block, size_t size) {
    if (size >> HAK_PAGE_SHIFT < HAK_HUGE_PAGES || !hak_os_purge(block, size))
        memset(block, 0, size);
}

/* A pointer that is none ends the program. */
static size_t size_to_zero(const void *block) {
    unsigned cls = hak_class_of(block);
    if (cls == HAK_CLASS_NONE)
        return hak_large_size(block, "free");
    hak_mark_must_be_out("free", block);
    return hak_classes[cls].size;
}

void hak_zero_freed(void *block) {
    zero(block, size_to_zero(block));
}
