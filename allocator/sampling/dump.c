#include "sampling/dump.h"

#include "base/fatal.h"
#include "os/calls.h"
#include "os/file.h"
#include "os/lock.h"
#include "sampling/sampling.h"
#include "sampling/sites.h"

#include <errno.h>
#include <limits.h>

/* Not on the stack, which may be as small as a signal's. */
static hak_out out;
static hak_lock file_lock;
static char prefix[PATH_MAX];
static HAK_EARLY bool prefix_is_set; /* each process that ends reads it */
static _Atomic unsigned last;        /* number of a file of this process */

static void add_up(const hak_site *site, void *context) {
    hak_site_counts *all = context;
    all->live += site->counts.live;
    all->live_bytes += site->counts.live_bytes;
    all->allocated += site->counts.allocated;
    all->allocated_bytes += site->counts.allocated_bytes;
}

/* "live: bytes [allocated: bytes] @", as gperftools has it. */
static void write_counts(hak_text *to, const hak_site_counts *of) {
    hak_text_add(to, "%lu: %lu [%lu: %lu] @", of->live, of->live_bytes, of->allocated,
                 of->allocated_bytes);
}

static void write_site(const hak_site *site, void *context) {
    hak_text *to = context;
    write_counts(to, &site->counts);
    for (unsigned i = 0; i < site->stack.depth; i++)
        hak_text_add(to, " %p", site->stack.frames[i]);
    hak_text_add(to, "\n");
}

/* False, and errno: it is not whole. */
static bool write_all(hak_text *to) {
    hak_site_counts all = {0};
    hak_sites_each(add_up, &all);
    hak_text_add(to, "heap profile: ");
    write_counts(to, &all);
    hak_text_add(to, " heap_v2/%lu\n# lost samples: %lu\n", hak_sampling_rate(), hak_sites_lost());
    hak_sites_each(write_site, to);
    hak_text_add(to, "\nMAPPED_LIBRARIES:\n");
    return hak_os_add_file(to, "/proc/thread-self/maps");
}

size_t hak_profile_text(char *buffer, size_t size) {
    hak_text text = {buffer, size, 0, NULL};
    return hak_sampling_ever() && write_all(&text) ? hak_text_end(&text) : 0;
}

int hak_profile_write(const char *path) {
    if (!hak_sampling_ever())
        return EINVAL;
    int saved_errno = errno;
    hak_lock_take(&file_lock);
    if (hak_out_open(&out, path) && !write_all(&out.text))
        hak_out_fail(&out);
    int error = hak_out_close(&out);
    hak_lock_give(&file_lock);
    errno = saved_errno;
    return error;
}

void hak_profile_set_prefix(const char *text) {
    size_t length = hak_print(prefix, sizeof prefix, "%s", text);
    prefix_is_set = length != 0 && length < sizeof prefix;
}

enum { PATH_ROOM = PATH_MAX + 64 };

/* To PREFIX.PID.NAME.heap. False: told why not. */
static bool write_named(char path[PATH_ROOM], const char *name) {
    hak_print(path, PATH_ROOM, "%s.%u.%s.heap", prefix, (unsigned)hak_call_process(), name);
    int error = hak_profile_write(path);
    if (error != 0)
        hak_message("hakmem: no heap profile at %s: %s", path, hak_os_reason(error));
    return error == 0;
}

static bool has_prefix(void) {
    return prefix_is_set && hak_sampling_ever();
}

void hak_profile_write_next(void) {
    char path[PATH_ROOM], name[21];
    if (!has_prefix())
        return;
    hak_print(name, sizeof name, "%u", ++last);
    write_named(path, name);
}

void hak_profile_write_leaks(void) {
    char path[PATH_ROOM];
    if (has_prefix() && write_named(path, "leaks"))
        hak_message("hakmem: leaks: call stacks: pipeline heap %s", path);
}

void hak_profile_after_fork_in_child(void) {
    hak_lock_inherit(&file_lock);
    last = 0;
}
