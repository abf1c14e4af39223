#include "os/peek.h"

#include "os/calls.h"
#include "os/file.h"
#include "os/os.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

/* /proc/thread-self/pagemap: a word for each page. */
#define PRESENT (UINT64_C(1) << 63)
#define SWAPPED (UINT64_C(1) << 62)
#define OF_FILE (UINT64_C(1) << 61) /* or of memory that is shared */

enum { BATCH = 512 };
static uint64_t entries[BATCH];
static int pagemap = -1;

size_t hak_os_peek(void *to, uintptr_t from, size_t size) {
    struct iovec here = {to, size}, there = {(void *)from, size};
    long got = HAK_KEEP_ERRNO(
        syscall(SYS_process_vm_readv, (long)hak_call_thread(), &here, 1L, &there, 1L, 0L));
    return got > 0 ? (size_t)got : 0;
}

bool hak_os_peek_start(void) {
    char one = 0;
    if (!hak_os_may_ask() || hak_os_peek(&one, (uintptr_t)&pagemap, 1) != 1)
        return false;
    pagemap = HAK_KEEP_ERRNO(hak_call_open("/proc/thread-self/pagemap"));
    return true;
}

void hak_os_peek_end(void) {
    hak_call_drop(pagemap);
    pagemap = -1;
}

static bool counts(uint64_t entry, bool private_only) {
    return (entry & (PRESENT | SWAPPED)) != 0 && !(private_only && (entry & OF_FILE) != 0);
}

/* Pages whose words could be read; 0: none. */
static size_t read_entries(uintptr_t start, uintptr_t end) {
    size_t page = hak_os_page_size(), pages = (end - start) / page;
    size_t bytes = (pages < BATCH ? pages : BATCH) * sizeof *entries;
    long got = HAK_KEEP_ERRNO(
        syscall(SYS_pread64, pagemap, entries, bytes, start / page * sizeof *entries));
    return got > 0 ? (size_t)got / sizeof *entries : 0;
}

void hak_os_touched_each(uintptr_t start, uintptr_t end, bool private_only,
                         void (*visit)(uintptr_t from, uintptr_t to, void *context),
                         void *context) {
    size_t page = hak_os_page_size(), known;
    for (; start < end && (known = read_entries(start, end)) != 0; start += known * page)
        for (size_t i = 0, first; i < known; i++) {
            for (first = i; i < known && counts(entries[i], private_only);)
                i++;
            if (first != i)
                visit(start + first * page, start + i * page, context);
        }
    if (start < end && !private_only)
        visit(start, end, context);
}

/* ---- mappings ---- */

typedef struct visitor {
    void (*visit)(const hak_os_mapping *mapping, void *context);
    void *context;
} visitor;

static const char *parse_address(const char *text, uintptr_t *value) {
    static const char digits[] = "0123456789abcdef";
    const char *digit;
    *value = 0;
    for (; *text != '\0' && (digit = strchr(digits, *text)) != NULL; text++)
        *value = *value << 4 | (uintptr_t)(digit - digits);
    return text;
}

static bool ends_with(const char *line, const char *ending) {
    size_t length = strlen(line), wanted = strlen(ending);
    return length >= wanted && strcmp(line + length - wanted, ending) == 0;
}

/* "7f0000000000-7f0000021000 rw-p 00000000 00:00 0      [stack]" */
static void visit_line(const char *line, void *context) {
    const visitor *v = context;
    hak_os_mapping m;
    const char *rest = parse_address(line, &m.start);
    if (*rest != '-')
        return;
    rest = parse_address(rest + 1, &m.end);
    if (strlen(rest) < 5)
        return;
    m.readable = rest[1] == 'r';
    m.writable = rest[2] == 'w';
    m.shared = rest[4] == 's';
    m.is_stack = ends_with(line, "[stack]");
    v->visit(&m, v->context);
}

bool hak_os_maps_each(void (*visit)(const hak_os_mapping *mapping, void *context), void *context) {
    return hak_os_each_line("/proc/thread-self/maps", visit_line, &(visitor){visit, context});
}
