#include "limits/limit.h"

#include "base/text.h"
#include "os/file.h"

#include <stdint.h>
#include <string.h>

/* Where a group's files lie, from what the kernel says:
 *
 *   /proc/thread-self/cgroup      0::/a/b/c                  the process's group
 *   /proc/thread-self/mountinfo   ... /a /sys/fs/cgroup ...  of which a part is mounted, and where
 *   so                  /sys/fs/cgroup/b/c/memory.max, then /sys/fs/cgroup/b, then the mount
 *
 * What /proc/self says of these is gone when the first thread has ended. */
enum { PATH = 512, TEXT = 64 };

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

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* Whether one of the words between commas is `word`. */
static bool has_word(const char *text, const char *end, const char *word) {
    size_t length = strlen(word);
    for (const char *at = text; at < end;) {
        const char *comma = hak_find(at, ','), *stop = comma < end ? comma : end;
        if ((size_t)(stop - at) == length && strncmp(at, word, length) == 0)
            return true;
        at = stop + 1;
    }
    return false;
}

/* Leaves `to` empty where the text is too long. */
static void copy(char to[PATH], const char *from, char end) {
    if (hak_print(to, PATH, "%.*s", (int)(hak_find(from, end) - from), from) >= PATH)
        to[0] = '\0';
}

/* ---- lines of a file ---- */

/* "4:memory:/path" or "0::/path" */
static void note_group(const char *line, void *context) {
    group *groups = context;
    const char *names = hak_find(line, ':');
    const char *path = *names != '\0' ? hak_find(names + 1, ':') : names;
    if (*path == '\0')
        return;
    bool is_v2 = begins(line, "0::");
    if (is_v2 || has_word(names + 1, path, "memory"))
        copy(groups[is_v2 ? V2 : V1].path, path + 1, '\n');
}

/* The version of a mount with the memory controller; VERSIONS: it is another mount. */
static enum version version_of(const char *type, const char *options) {
    if (begins(type, "cgroup2 "))
        return V2;
    bool is_v1 = begins(type, "cgroup ") && has_word(options, options + strlen(options), "memory");
    return is_v1 ? V1 : VERSIONS;
}

/* "31 23 0:28 ROOT AT options optional... - TYPE source OPTIONS" */
static void note_mount(const char *line, void *context) {
    group *groups = context;
    const char *root = hak_field(line, 3), *at = hak_field(root, 1), *dash = hak_field(at, 1);
    while (*dash != '\0' && !begins(dash, "- "))
        dash = hak_field(dash, 1);
    enum version v = version_of(hak_field(dash, 1), hak_field(dash, 3));
    if (v == VERSIONS || groups[v].at[0] != '\0')
        return;
    copy(groups[v].root, root, ' ');
    copy(groups[v].at, at, ' ');
}

static void read_lines(const char *name, void (*each)(const char *line, void *context),
                       group groups[VERSIONS]) {
    char path[PATH];
    hak_print(path, PATH, "%s%s", hak_cgroup_root, name);
    hak_os_each_line(path, each, groups);
}

static void find_groups(group groups[VERSIONS]) {
    for (unsigned v = 0; v < VERSIONS; v++)
        groups[v].path[0] = groups[v].root[0] = groups[v].at[0] = '\0';
    read_lines("/proc/thread-self/cgroup", note_group, groups);
    read_lines("/proc/thread-self/mountinfo", note_mount, groups);
}

/* ---- numbers ---- */

/* The beginning of a file. False: it is empty, or cannot be read. */
static bool read_in(const char *folder, const char *file, char text[TEXT]) {
    char path[PATH];
    return hak_print(path, PATH, "%s%s", folder, file) < PATH && hak_os_read(path, text, TEXT) > 0;
}

/* "max" is none; so is what cannot be read. */
static size_t number_in(const char *text) {
    size_t number;
    return hak_read_decimal(text, &number) != NULL ? number : SIZE_MAX;
}

/* Version 1 says "none" by the largest number of whole pages. */
static size_t limit_in(const char *folder, enum version v, bool *seen) {
    char text[TEXT];
    if (!read_in(folder, file_of(v), text))
        return SIZE_MAX;
    *seen = true;
    size_t limit = number_in(text);
    return limit < (size_t)PTRDIFF_MAX - 65536 ? limit : SIZE_MAX;
}

/* The folder of the group; *top is how long the mount's part is. False: it is not mounted. */
static bool folder_of(const group *g, char folder[PATH], size_t *top) {
    size_t root = strcmp(g->root, "/") == 0 ? 0 : strlen(g->root);
    bool inside = strncmp(g->path, g->root, root) == 0 && !begins(g->path + root, "/..") &&
                  strcmp(g->path + root, "/") != 0;
    *top = hak_print(folder, PATH, "%s%s", hak_cgroup_root, g->at);
    size_t length =
        hak_print(folder, PATH, "%s%s%s", hak_cgroup_root, g->at, inside ? g->path + root : "");
    return length < PATH && g->at[0] != '\0' && g->path[0] != '\0';
}

/* ---- the interface ---- */

/* The length of the folder above, the mount's at least. */
static size_t length_above(const char *folder, size_t length, size_t top) {
    while (length > top && folder[length - 1] != '/')
        length--;
    return length > top ? length - 1 : top;
}

static size_t least_of(const group *g, enum version v, bool *seen) {
    char folder[PATH];
    size_t top, least = SIZE_MAX;
    if (!folder_of(g, folder, &top))
        return SIZE_MAX;
    for (size_t length = strlen(folder);;) {
        size_t limit = limit_in(folder, v, seen);
        least = limit < least ? limit : least;
        if (length <= top)
            return least;
        length = length_above(folder, length, top);
        folder[length] = '\0';
    }
}

size_t hak_cgroup_limit(size_t before) {
    group groups[VERSIONS];
    bool seen = false;
    find_groups(groups);
    size_t v1 = least_of(&groups[V1], V1, &seen), v2 = least_of(&groups[V2], V2, &seen);
    return !seen ? before : v1 < v2 ? v1 : v2;
}

/* "some avg10=1.23 ..."; false: there is no such file. */
static bool pressure_in(const char *folder, const char *file, unsigned long *percent) {
    static const char begin[] = "some avg10=";
    char text[TEXT];
    if (!read_in(folder, file, text) || !begins(text, begin))
        return false;
    size_t number = number_in(text + sizeof begin - 1);
    *percent = number <= 100 ? number : 0;
    return true;
}

unsigned long hak_cgroup_pressure(void) {
    group groups[VERSIONS];
    char folder[PATH];
    size_t top;
    unsigned long percent = 0;
    find_groups(groups);
    if (!folder_of(&groups[V2], folder, &top) || !pressure_in(folder, "/memory.pressure", &percent))
        pressure_in(hak_cgroup_root, "/proc/pressure/memory", &percent);
    return percent;
}
