#include "leaks/leaks.h"

#include "base/bits.h"
#include "base/classes.h"
#include "base/fatal.h"
#include "os/lock.h"
#include "os/os.h"
#include "os/peek.h"
#include "pages/apart.h"
#include "pages/range.h"
#include "pages/segment.h"
#include "policy/policy.h"

enum { TELL_ONLY = 1 }; /* any other value is the exit code */

bool hak_leaks_wanted(void) {
    return hak_policy_now()->leaks != 0;
}

void hak_leaks_tell_failure(const char *why) {
    hak_message("hakmem: leaks: not looked for: %s", why);
}

/* ---- all blocks ---- */

/* How many blocks of a run were ever handed out: of a slab, or the one of a large run. */
static size_t carved(const hak_slab *run) {
    if (run->kind == HAK_RUN_SLAB)
        return hak_least(run->carved, hak_classes[run->cls].capacity);
    return hak_kind_is_large(run->kind);
}

/* Under the lock no run becomes another one. */
static size_t each_of(const hak_slab *run, hak_visit_block *visit, void *context) {
    hak_lock_take(&hak_segment_lock);
    size_t blocks = carved(run);
    for (size_t i = 0; i < blocks && visit != NULL; i++)
        visit(run, i, (const char *)run->start + i * hak_classes[run->cls].size, context);
    hak_lock_give(&hak_segment_lock);
    return blocks;
}

size_t hak_blocks_each(hak_visit_block *visit, void *context) {
    size_t sum = 0;
    HAK_EACH_RANGE(r)
        for (size_t page = 0; page < r->segments_fresh * HAK_PAGES_PER_SEGMENT; page++)
            if (carved(&r->slabs[page]) != 0)
                sum += each_of(&r->slabs[page], visit, context);
    return sum;
}

static void add_apart(const void *block, size_t size) {
    hak_suspects_add(block, size, 0);
}

/* NULL: done. */
static const char *search(const hak_leaks_from *from, uintptr_t stack) {
    size_t bytes, most = hak_blocks_each(NULL, NULL) + hak_apart_count(&bytes);
    if (!hak_suspects_open(most + most / 8 + 1024))
        return "out of memory";
    hak_blocks_each(from->add, NULL);
    hak_apart_each(add_apart);
    hak_suspects_sort();
    return hak_roots_look(stack) ? NULL : "/proc/thread-self/maps cannot be read";
}

/* Not inlined: its frame lies below the registers that the caller stored, and above what our own
 * calls leave behind on the stack. */
static HAK_DOOR void look(const hak_leaks_from *from) {
    if (!hak_os_peek_start()) {
        hak_leaks_tell_failure(
            "the system does not let the process read itself (process_vm_readv)");
        return;
    }
    const char *failure = search(from, HAK_STACK_NOW());
    size_t leaks = failure == NULL ? from->tell() : 0;
    hak_os_peek_end();
    if (failure != NULL)
        hak_leaks_tell_failure(failure);
    unsigned long code = hak_policy_now()->leaks;
    if (leaks != 0 && code != TELL_ONLY)
        hak_os_exit_with((int)code);
}

void hak_leaks_look(const hak_leaks_from *from) {
    HAK_RACING_READS_BEGIN();
    HAK_STORE_REGISTERS();
    look(from);
    HAK_RACING_READS_END();
    HAK_NOT_A_CONDITIONAL_TAIL_CALL(); /* nor any: the registers stay stored */
}
