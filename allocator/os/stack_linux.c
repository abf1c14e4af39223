#include "os/stack.h"

#include "base/fatal.h"
#include "base/text.h"
#include "os/object.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

enum { OWN = 24 }; /* frames of ours that may lie between the program and the unwinder */

#ifdef __GLIBC__ /* musl has no unwinder */
#include <execinfo.h>

static unsigned unwind(void **frames, unsigned most) {
    int found = backtrace(frames, (int)most);
    return found > 0 ? (unsigned)found : 0;
}
#else
static unsigned unwind(void **frames, unsigned most) {
    (void)frames, (void)most;
    return 0;
}
#endif

/* Where this library lies; nowhere when it is a part of the program. */
static uintptr_t own_start, own_end;

/* Looked up at the start alone: a name in the library's own list costs every process. */
static int (*find_place)(const void *address, Dl_info *found);
#pragma weak dlsym /* there is none in a program that is linked statically as a whole */

void hak_os_stack_start(void) {
    void *frame[1];
    if (dlsym != NULL)
        find_place = (int (*)(const void *, Dl_info *))dlsym(RTLD_DEFAULT, "dladdr");
    hak_os_own(&own_start, &own_end);
    unwind(frame, 1);
}

static bool is_own(const void *frame) {
    return (uintptr_t)frame >= own_start && (uintptr_t)frame < own_end;
}

/* The unwinder of a static program allocates at its first search, under a lock of its own. */
unsigned hak_os_stack(void **frames, unsigned most) {
    static HAK_TLS bool busy;
    void *all[128];
    if (busy)
        return 0;
    busy = true;
    unsigned found = unwind(all, most + OWN < 128 ? most + OWN : 128), own = 0, kept = 0;
    busy = false;
    while (own < found && is_own(all[own]))
        own++;
    for (; own + kept < found && kept < most; kept++)
        frames[kept] = all[own + kept];
    return kept;
}

/* Where the frame lies: bytes into a function, if the dynamic linker knows it, and into a file. A
 * return address may be the first byte behind a function that never returns. */
static void write_frame(unsigned number, const void *frame) {
    Dl_info found;
    char into[24] = "";
    if (find_place == NULL || find_place((const char *)frame - 1, &found) == 0)
        found = (Dl_info){0};
    if (found.dli_sname != NULL)
        hak_print(into, sizeof into, "+%p",
                  (void *)((uintptr_t)frame - (uintptr_t)found.dli_saddr));
    hak_message("    #%u %p %s%s (%s+%p)", number, frame,
                found.dli_sname != NULL ? found.dli_sname : "?", into,
                found.dli_fname != NULL ? found.dli_fname : "?",
                (void *)((uintptr_t)frame - (uintptr_t)found.dli_fbase));
}

void hak_os_stack_write(void *const *frames, unsigned depth) {
    for (unsigned i = 0; i < depth; i++)
        write_frame(i, frames[i]);
}
