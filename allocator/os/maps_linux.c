#include "os/maps.h"

#include "os/calls.h"

#include <errno.h>
#include <string.h>

/* The beginning of a line: addresses, access, and the name where it is a short one. */
enum { LINE = 160 };
typedef struct line {
    size_t length; /* of all of it */
    char text[LINE + 1];
} line;

static const char *parse_address(const char *text, uintptr_t *value) {
    static const char digits[] = "0123456789abcdef";
    const char *digit;
    *value = 0;
    for (; *text != '\0' && (digit = strchr(digits, *text)) != NULL; text++)
        *value = *value << 4 | (uintptr_t)(digit - digits);
    return text;
}

static bool ends_with(const line *l, const char *ending) {
    size_t length = strlen(ending);
    return l->length <= LINE && l->length >= length &&
           memcmp(l->text + l->length - length, ending, length) == 0;
}

/* "7f0000000000-7f0000021000 rw-p 00000000 00:00 0      [stack]" */
static bool parse(line *l, hak_os_mapping *m) {
    l->text[l->length < LINE ? l->length : LINE] = '\0';
    const char *rest = parse_address(l->text, &m->start);
    if (*rest != '-')
        return false;
    rest = parse_address(rest + 1, &m->end);
    if (strlen(rest) < 5)
        return false;
    m->readable = rest[1] == 'r';
    m->writable = rest[2] == 'w';
    m->shared = rest[4] == 's';
    m->is_stack = ends_with(l, "[stack]");
    return true;
}

/* True: the line has ended. */
static bool take(line *l, char c) {
    if (c == '\n')
        return true;
    if (l->length < LINE)
        l->text[l->length] = c;
    l->length++;
    return false;
}

static bool each_line(int file, void (*visit)(const hak_os_mapping *, void *), void *context) {
    char piece[1024];
    line l = {0};
    hak_os_mapping m;
    ssize_t got;
    while ((got = hak_call_read(file, piece, sizeof piece)) > 0 || (got < 0 && errno == EINTR))
        for (ssize_t i = 0; i < got; i++)
            if (take(&l, piece[i])) {
                if (parse(&l, &m))
                    visit(&m, context);
                l.length = 0;
            }
    return got == 0;
}

bool hak_os_maps_each(void (*visit)(const hak_os_mapping *mapping, void *context), void *context) {
    int saved_errno = errno, file = hak_call_open("/proc/self/maps");
    bool done = file >= 0 && each_line(file, visit, context);
    hak_call_drop(file);
    errno = saved_errno;
    return done;
}
