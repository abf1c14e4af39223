#include "base/fatal.h"
#include "os/calls.h"
#include "os/stack.h"
#include "os/thread.h"
#include "trap/pool.h"

#include <stdlib.h>
#include <unistd.h>

enum { WAIT_MS = 2000 };

static void write_stack(const char *what, const hak_trap_event *event) {
    hak_message("  %s in thread %u%s", what, (unsigned)event->thread,
                event->stack.depth != 0 ? ":" : ", with no call stack");
    hak_os_stack_write(event->stack.frames, event->stack.depth);
}

/* Where an address lies, seen from a block: "8 bytes behind". */
static const char *position(const char *address, size_t slot, size_t *distance) {
    const char *start = hak_trap_start(slot), *end = start + hak_traps.slots[slot].size;
    *distance = (size_t)(address < start ? start - address
                         : address < end ? address - start
                                         : address - end);
    return address < start ? " bytes in front of a block of "
           : address < end ? " bytes after the start of a block of "
                           : " bytes behind a block of ";
}

static bool is_freed(size_t slot) {
    return hak_trap_state_of(slot) < HAK_TRAP_LIVE && hak_traps.slots[slot].freed.thread != 0;
}

static void write_headline(const char *what, const char *function, const void *address,
                           size_t slot) {
    size_t distance;
    const char *where = position(address, slot, &distance);
    hak_message("hakmem: %s: %s(%p): %zu%s%u bytes%s", what, function, address, distance, where,
                hak_traps.slots[slot].size, is_freed(slot) ? " that was freed" : "");
}

static void write_report(const char *what, const char *function, const void *address, size_t slot) {
    const hak_trap_slot *s = &hak_traps.slots[slot];
    hak_trap_event here;
    hak_trap_note(&here);
    write_headline(what, function, address, slot);
    write_stack("found", &here);
    write_stack("allocated", &s->allocated);
    if (is_freed(slot))
        write_stack("freed", &s->freed);
    hak_message(
        "  for a line of the sources, give addr2line what stands in brackets, (FILE+OFFSET): "
        "addr2line -Cfie FILE OFFSET");
}

/* A second thread waits until the first has ended the program. The same one comes by again where
 * the program's own handler returns from a fault. */
static void report(const char *what, const char *function, const void *address, size_t slot) {
    static _Atomic int reporter;
    int nobody = 0, self = hak_call_thread();
    if (atomic_compare_exchange_strong(&reporter, &nobody, self)) {
        write_report(what, function, address, slot);
        return;
    }
    if (nobody != self)
        hak_os_sleep_ms(WAIT_MS);
    abort();
}

void hak_trap_end(const char *what, const char *function, const void *address, size_t slot) {
    report(what, function, address, slot);
    abort();
}

void hak_trap_explain(const void *address) {
    if (!hak_trap_holds(address))
        return;
    size_t slot = hak_trap_slot_at(address);
    const char *start = hak_trap_start(slot);
    if (!hak_trap_was_used(slot))
        return;
    if (hak_trap_state_of(slot) < HAK_TRAP_LIVE)
        report("use after free", "access", address, slot);
    else
        report((const char *)address < start ? "underflow" : "overflow", "access", address, slot);
}
