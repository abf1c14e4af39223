#include "policy/conf.h"

#include "base/bits.h"
#include "base/text.h"
#include "os/file.h"
#include "os/tell.h"

#include <string.h>

enum { FILE_SIZE = 4096 };

/* ---- one value ---- */

static void refuse_value(const char *source, enum hak_option_index option, const char *text,
                         const hak_policy *draft) {
    char low[22], high[22], used[22];
    if (draft->quiet != 0)
        return;
    bool is_size = hak_option_is_size(option);
    const char *share = is_size ? ", also with K, M or G, or a share from 1% to 100%" : "";
    bool unlimited = is_size && *hak_policy_at(draft, option) == 0;
    hak_tell("%s%s=%s is not a number from %s to %s%s; using %s%s", source,
             hak_options[option].variable, text, hak_option_text(hak_options[option].lowest, low),
             hak_option_text(hak_options[option].highest, high), share,
             hak_option_text(*hak_policy_at(draft, option), used), unlimited ? " (no limit)" : "");
}

bool hak_conf_set(const char *source, enum hak_option_index option, const char *text,
                  hak_policy *draft) {
    unsigned long value;
    bool good = hak_option_parse(option, text, &value);
    if (good)
        *hak_policy_at(draft, option) = value;
    else
        refuse_value(source, option, text, draft);
    return good;
}

/* ---- entries ---- */

typedef struct entry {
    char name[HAK_CONF_PATH], value[HAK_CONF_PATH];
    size_t name_length, value_length;
} entry;

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static const char *skip_blanks(const char *at) {
    while (is_blank(*at))
        at++;
    return at;
}

/* Copies a part of the string without the blanks around it; cut where it is too long, so that it
 * is no name and no value. Returns its length. */
static size_t copy(char to[HAK_CONF_PATH], const char *from, const char *end) {
    from = skip_blanks(from);
    size_t length = end > from ? (size_t)(end - from) : 0;
    while (length > 0 && is_blank(from[length - 1]))
        length--;
    length = hak_least(length, HAK_CONF_PATH - 1);
    memcpy(to, from, length);
    to[length] = '\0';
    return length;
}

/* A comment ends with its line, another entry also at a comma. */
static const char *end_of(const char *at) {
    bool is_comment = *at == '#';
    while (*at != '\0' && *at != '\n' && (is_comment || *at != ','))
        at++;
    return at;
}

/* The next entry; returns what follows, NULL at the end. Empty ones have no name. */
static const char *next(const char *at, entry *e) {
    at = skip_blanks(at);
    if (*at == '\0')
        return NULL;
    const char *end = end_of(at), *equals = memchr(at, '=', (size_t)(end - at));
    e->name_length = *at != '#' ? copy(e->name, at, equals != NULL ? equals : end) : 0;
    e->value_length = copy(e->value, equals != NULL ? equals + 1 : end, end);
    return *end != '\0' ? end + 1 : end;
}

static bool is_file(const entry *e) {
    return strcmp(e->name, "file") == 0;
}

static void refuse_name(const char *source, const entry *e) {
    if (*e->name == '/')
        hak_tell("%s%s is no option; did you mean file=%s?", source, e->name, e->name);
    else
        hak_name_refuse(source, e->name, e->name_length, HAK_PREFIX);
}

/* False: it does not count. */
static bool read_entry(const char *source, const entry *e, hak_policy *draft) {
    enum hak_option_index option = hak_option_find(e->name, e->name_length);
    if (e->name_length == 0 || is_file(e))
        return true;
    if (option != HAK_OPTIONS)
        return hak_conf_set(source, option, e->value, draft);
    if (draft->quiet == 0)
        refuse_name(source, e);
    return false;
}

int hak_conf_read(const char *source, const char *text, hak_policy *draft) {
    entry e;
    int refused = 0;
    while ((text = next(text, &e)) != NULL)
        refused += !read_entry(source, &e, draft);
    return refused;
}

/* ---- the file ---- */

bool hak_conf_file(const char *text, char path[HAK_CONF_PATH], const hak_policy *draft) {
    entry e;
    bool named = false;
    while ((text = next(text, &e)) != NULL) {
        if (!is_file(&e))
            continue;
        named = e.value[0] == '/' && e.value_length < HAK_CONF_PATH - 1;
        if (named)
            memcpy(path, e.value, e.value_length + 1);
        else if (draft->quiet == 0)
            hak_tell("HAKMEM_CONF: file=%s is not an absolute path; not read", e.value);
    }
    return named;
}

int hak_conf_read_file(const char *path, hak_policy *draft) {
    char text[FILE_SIZE], source[HAK_CONF_PATH + 2];
    const char *why;
    if (hak_os_read_trusted(path, text, sizeof text, &why) < 0) {
        if (draft->quiet == 0)
            hak_tell("%s %s; not read", path, why);
        return -1;
    }
    stpcpy(stpcpy(source, path), ": ");
    return hak_conf_read(source, text, draft);
}
