#include "leaks/leaks.h"

#include "base/fatal.h"
#include "leaks/roots.h"
#include "os/os.h"
#include "os/peek.h"
#include "policy/policy.h"

enum { TELL_ONLY = 1 }; /* any other value is the exit code */

bool hak_leaks_wanted(void) {
    return hak_policy_now()->leaks != 0;
}

void hak_leaks_tell_failure(const char *why) {
    hak_message("hakmem: leaks: not looked for: %s", why);
}

/* NULL: done. */
static const char *search(const hak_leaks_from *from, uintptr_t stack) {
    size_t most = from->most();
    if (!hak_suspects_open(most + most / 8 + 1024))
        return "out of memory";
    from->add_all();
    hak_suspects_sort();
    return hak_roots_look(stack) ? NULL : "/proc/self/maps cannot be read";
}

/* What is found here is not what callers have in registers, and not what our own calls leave behind
 * on the stack. */
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
    HAK_STORE_REGISTERS();
    look(from);
    HAK_NOT_A_CONDITIONAL_TAIL_CALL(); /* nor any: the registers stay stored */
}
