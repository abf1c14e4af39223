#include "limits/cgroup.h"

#include "base/text.h"
#include "os/file.h"

#include <stdint.h>
#include <string.h>

/* Where a group's files lie, from what the kernel says:
 *
 *   /proc/self/cgroup     0::/a/b/c                    the process's group
 *   /proc/self/mountinfo  ... /a /sys/fs/cgroup ...    of which a part is mounted, and where
 *   so                    /sys/fs/cgroup/b/c/memory.max, then /sys/fs/cgroup/b, then the mount */
enum { BUFFER = 1024, PATH = 512, FIELDS = 12 };

const char *hak_cgroup_root = "";

enum version { V1, V2, VERSIONS };
static const char *file_of(enum version v) {
    return v == V2 ? "/memory.max" : "/memory.limit_in_bytes";
}

typedef struct group {
    char path[PATH]; /* in the hierarchy; empty: the process is in none */
    char root[PATH]; /* of it, what is mounted ... */
    char at[PATH];   /* ... here; empty: nowhere */
} group;

/* ---- text ---- */

static bool copy(char to[PATH], const char *from, size_t length) {
    bool fits = length < PATH;
    memcpy(to, from, fits ? length : 0);
    to[fits ? length : 0] = '\0';
    return fits;
}

static bool add(char to[PATH], const char *more) {
    size_t length = strlen(to), added = strlen(more);
    bool fits = length + added < PATH;
    if (fits)
        memcpy(to + length, more, added + 1);
    return fits;
}

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* Whether one of the words between commas is `word`. */
static bool has_word(const char *text, const char *end, const char *word) {
    size_t length = strlen(word);
    for (const char *at = text; at < end;) {
        const char *stop = at;
        while (stop < end && *stop != ',')
            stop++;
        if ((size_t)(stop - at) == length && strncmp(at, word, length) == 0)
            return true;
        at = stop + 1;
    }
    return false;
}

static const char *find_char(const char *at, char c) {
    while (*at != '\0' && *at != c)
        at++;
    return at;
}

/* ---- lines of a file ---- */

typedef void each_line(const char *line, group groups[VERSIONS]);

/* Calls `each` for all lines of the buffer that end in it; returns the bytes of these. */
static size_t split(char *text, each_line *each, group groups[VERSIONS]) {
    char *line = text;
    for (char *at = text; *at != '\0'; at++) {
        if (*at != '\n')
            continue;
        *at = '\0';
        each(line, groups);
        line = at + 1;
    }
    return (size_t)(line - text);
}

/* Lines that are longer than the buffer are cut. */
static void read_lines(const char *name, each_line *each, group groups[VERSIONS]) {
    char path[PATH] = "", text[BUFFER];
    add(path, hak_cgroup_root);
    add(path, name);
    for (size_t offset = 0;;) {
        long length = hak_os_read(path, offset, text, sizeof text);
        if (length <= 0)
            return;
        size_t done = split(text, each, groups);
        offset += done != 0 ? done : (size_t)length;
    }
}

/* "4:memory:/path" or "0::/path" */
static void note_group(const char *line, group groups[VERSIONS]) {
    const char *names = find_char(line, ':');
    const char *path = *names != '\0' ? find_char(names + 1, ':') : names;
    if (*path == '\0')
        return;
    bool is_v2 = begins(line, "0::");
    if (is_v2 || has_word(names + 1, path, "memory"))
        copy(groups[is_v2 ? V2 : V1].path, path + 1, strlen(path + 1));
}

/* The fields of a line between blanks, and their ends; returns how many. */
static unsigned fields_of(const char *line, const char *fields[FIELDS + 1]) {
    unsigned count = 0;
    for (; count < FIELDS && *line != '\0'; count++) {
        fields[count] = line;
        line = find_char(line, ' ');
        line += *line != '\0';
    }
    fields[count] = line + 1; /* as if a blank followed */
    return count;
}

/* Of a mount that has memory in its options; VERSIONS: it is something else. */
static enum version version_of(const char *type, const char *options) {
    if (begins(type, "cgroup2 "))
        return V2;
    bool is_v1 = begins(type, "cgroup ") && has_word(options, options + strlen(options), "memory");
    return is_v1 ? V1 : VERSIONS;
}

/* "31 23 0:28 ROOT AT options optional... - TYPE source OPTIONS" */
static void note_mount(const char *line, group groups[VERSIONS]) {
    const char *f[FIELDS + 1];
    unsigned count = fields_of(line, f), dash = 6;
    while (dash < count && !begins(f[dash], "- "))
        dash++;
    if (dash + 3 >= count)
        return;
    enum version v = version_of(f[dash + 1], f[dash + 3]);
    if (v == VERSIONS || groups[v].at[0] != '\0')
        return;
    group *g = &groups[v];
    copy(g->root, f[3], (size_t)(f[4] - f[3] - 1));
    copy(g->at, f[4], (size_t)(f[5] - f[4] - 1));
}

static void find_groups(group groups[VERSIONS]) {
    for (unsigned v = 0; v < VERSIONS; v++)
        groups[v].path[0] = groups[v].root[0] = groups[v].at[0] = '\0';
    read_lines("/proc/self/cgroup", note_group, groups);
    read_lines("/proc/self/mountinfo", note_mount, groups);
}

/* ---- numbers ---- */

/* "max" is none; so is what cannot be read. */
static size_t number_in(const char *text) {
    size_t number;
    return hak_read_decimal(text, &number) != NULL ? number : SIZE_MAX;
}

/* Version 1 says "none" by the largest number of whole pages. */
static size_t limit_in(const char *folder, enum version v) {
    char path[PATH] = "", text[32];
    if (!add(path, folder) || !add(path, file_of(v)) ||
        hak_os_read(path, 0, text, sizeof text) <= 0)
        return SIZE_MAX;
    size_t limit = number_in(text);
    return limit < (size_t)PTRDIFF_MAX - 65536 ? limit : SIZE_MAX;
}

/* The folder of the group; *top is how long the mount's part is. False: it is not mounted. */
static bool folder_of(const group *g, char folder[PATH], size_t *top) {
    size_t root = strcmp(g->root, "/") == 0 ? 0 : strlen(g->root);
    bool inside = strncmp(g->path, g->root, root) == 0 && !begins(g->path + root, "/..");
    folder[0] = '\0';
    bool fits = add(folder, hak_cgroup_root) && add(folder, g->at);
    *top = strlen(folder);
    if (inside && strcmp(g->path + root, "/") != 0)
        fits = fits && add(folder, g->path + root);
    return fits && g->at[0] != '\0' && g->path[0] != '\0';
}

/* ---- the interface ---- */

/* The length of the folder above, the mount's at least. */
static size_t length_above(const char *folder, size_t length, size_t top) {
    while (length > top && folder[length - 1] != '/')
        length--;
    return length > top ? length - 1 : top;
}

static size_t least_of(const group *g, enum version v) {
    char folder[PATH];
    size_t top, least = SIZE_MAX;
    if (!folder_of(g, folder, &top))
        return SIZE_MAX;
    for (size_t length = strlen(folder);;) {
        size_t limit = limit_in(folder, v);
        least = limit < least ? limit : least;
        if (length <= top)
            return least;
        length = length_above(folder, length, top);
        folder[length] = '\0';
    }
}

size_t hak_cgroup_limit(void) {
    group groups[VERSIONS];
    find_groups(groups);
    size_t v1 = least_of(&groups[V1], V1), v2 = least_of(&groups[V2], V2);
    return v1 < v2 ? v1 : v2;
}

/* "some avg10=1.23 ..." */
static bool pressure_in(const char *path, unsigned long *percent) {
    static const char begin[] = "some avg10=";
    char text[64];
    if (hak_os_read(path, 0, text, sizeof text) <= 0 || !begins(text, begin))
        return false;
    size_t number = number_in(text + sizeof begin - 1);
    *percent = number <= 100 ? number : 0;
    return true;
}

unsigned long hak_cgroup_pressure(void) {
    group groups[VERSIONS];
    char path[PATH];
    size_t top;
    unsigned long percent = 0;
    find_groups(groups);
    if (folder_of(&groups[V2], path, &top) && add(path, "/memory.pressure") &&
        pressure_in(path, &percent))
        return percent;
    path[0] = '\0';
    if (add(path, hak_cgroup_root) && add(path, "/proc/pressure/memory"))
        pressure_in(path, &percent);
    return percent;
}
