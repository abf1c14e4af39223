/* The library's calls of the system, led through here by the linker (--wrap): the clock stands
 * still but for system_wait, and memory is refused when the program says so. */
#include <stdatomic.h>

#include "os/os.h"
#include "programs.h"

static atomic_uint_fast64_t now_us;
static atomic_uint granted_before, to_refuse, refusals;

/* A moment later than the last program's end. */
void system_begin(void) {
    atomic_fetch_add(&now_us, 1000000);
    system_refuse(0, 0);
}

void system_wait(unsigned milliseconds) {
    atomic_fetch_add(&now_us, milliseconds * (uint64_t)1000);
}

void system_refuse(unsigned skip, unsigned count) {
    atomic_store(&granted_before, skip);
    atomic_store(&to_refuse, count);
}

unsigned system_refusals(void) {
    return atomic_load(&refusals);
}

static bool is_refused(void) {
    if (atomic_load(&to_refuse) == 0)
        return false;
    if (atomic_load(&granted_before) > 0) {
        atomic_fetch_sub(&granted_before, 1);
        return false;
    }
    atomic_fetch_sub(&to_refuse, 1);
    atomic_fetch_add(&refusals, 1);
    return true;
}

__typeof__(hak_os_now_ms) __wrap_hak_os_now_ms, __wrap_hak_os_now_us;
uint64_t __wrap_hak_os_now_ms(void) {
    return atomic_load(&now_us) / 1000;
}

uint64_t __wrap_hak_os_now_us(void) {
    return atomic_fetch_add(&now_us, 1);
}

/* Of what is only planned the system may also say that something lies there. */
static enum hak_commit refusal_of(bool is_reserved) {
    return is_reserved || atomic_load(&refusals) % 2 == 0 ? HAK_REFUSED : HAK_TAKEN;
}

/* WRAP(type, refusal, name, (parameters), (arguments)); the types are those of os.h. */
#define WRAP(type, refusal, name, parameters, arguments)                                           \
    __typeof__(name) __real_##name, __wrap_##name;                                                 \
    type __wrap_##name parameters {                                                                \
        return is_refused() ? (refusal) : __real_##name arguments;                                 \
    }

WRAP(void *, NULL, hak_os_reserve, (size_t size, size_t align), (size, align))
WRAP(enum hak_commit, refusal_of(is_reserved), hak_os_commit,
     (void *start, size_t size, bool is_reserved), (start, size, is_reserved))
WRAP(bool, false, hak_os_purge, (void *start, size_t size), (start, size))
WRAP(void *, NULL, hak_os_map, (size_t size, size_t align), (size, align))
WRAP(void *, NULL, hak_os_remap, (void *start, size_t size, size_t new_size),
     (start, size, new_size))
WRAP(void *, NULL, hak_os_move_out, (void *from, size_t size, size_t new_size),
     (from, size, new_size))
