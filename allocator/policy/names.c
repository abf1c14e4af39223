#include "policy/option.h"

#include "base/bits.h"
#include "os/tell.h"

#include <string.h>

/* One after the other, each with its end: a table of addresses would cost each process a
 * relocation for each of them. */
#define HAK_NAME(name) name "\0"
#define HAK_TEXT_OPTION(variable, help) variable "\0"
#define HAK_OPTION(field, variable, kind, standard, lowest, highest, help) variable "\0"
static const char known[] =
#include "policy/names_elsewhere.def"
#include "policy/options.def"
#include "policy/options_guard.def"
#include "policy/options_hardened.def"
#include "policy/options_production.def"
#include "policy/options_research.def"
#include "policy/options_text.def"
    ;
#undef HAK_NAME
#undef HAK_OPTION

/* Options that are texts: each is set by its own variable alone. */
static const char texts[] =
#include "policy/options_text.def"
    ;
#undef HAK_TEXT_OPTION

bool hak_name_is_known(const char *name, size_t length) {
    for (const char *at = known; at < known + sizeof known - 1; at += strlen(at) + 1)
        if (strncmp(at, name, length) == 0 && at[length] == '\0')
            return true;
    return false;
}

enum { LONGEST = 32 }; /* as long as an option's name may be */

/* Letters to put in, to leave out or to change until one is the other. Source: Wagner & Fischer,
 * "The String-to-String Correction Problem" (1974). */
static size_t distance(const char *a, size_t length, const char *b) {
    size_t row[LONGEST + 1], width = strlen(b);
    for (size_t j = 0; j <= width; j++)
        row[j] = j;
    for (size_t i = 0; i < length; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < width; j++) {
            size_t changed = diagonal + (hak_lower(a[i]) != hak_lower(b[j]));
            diagonal = row[j + 1];
            row[j + 1] = hak_least(hak_least(row[j], row[j + 1]) + 1, changed);
        }
    }
    return row[width];
}

/* At most a third of the letters behind the prefix may differ; or two, as where two are swapped. */
static size_t most_for(size_t length) {
    return hak_most((length > HAK_PREFIX ? length - HAK_PREFIX : length) / 3, 2);
}

typedef struct search {
    const char *name, *nearest;
    size_t length, skip, best;
} search;

static void compare(search *s, const char *variable) {
    size_t d = distance(s->name, s->length, variable + s->skip);
    if (d < s->best) {
        s->best = d;
        s->nearest = variable;
    }
}

/* NULL: none looks like it. */
static const char *nearest_of(const char *name, size_t length, size_t skip) {
    search s = {name, NULL, length, skip, most_for(length + skip) + 1};
    if (length > LONGEST)
        return NULL;
    for (unsigned i = 0; i < HAK_OPTIONS; i++)
        compare(&s, hak_options[i].variable);
    for (const char *at = texts; skip == 0 && *at != '\0'; at += strlen(at) + 1)
        compare(&s, at);
    return s.nearest;
}

void hak_name_refuse(const char *source, const char *name, size_t length, size_t skip) {
    char option[LONGEST];
    const char *nearest = nearest_of(name, length, skip);
    if (nearest != NULL && skip != 0)
        nearest = hak_option_name(nearest, option);
    hak_tell("%s%.*s is no option%s%s%s", source, (int)hak_least(length, 63), name,
             nearest != NULL ? "; did you mean " : "", nearest != NULL ? nearest : "",
             nearest != NULL ? "?" : "");
}
