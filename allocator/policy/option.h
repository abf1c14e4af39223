/* The table of options: their names, ranges and texts. A value is one word: a number, or a share of
 * a limit that is not known here. */
#pragma once

#include "base/attributes.h"
#include "base/geometry.h"
#include "base/variant.h"

#include <stdbool.h>

enum hak_option_index {
#define HAK_OPTION(field, variable, kind, standard, lowest, highest, help) HAK_OPTION_##field,
#include "policy/options.def"
#include HAK_VARIANT_OPTIONS
#undef HAK_OPTION
    HAK_OPTIONS
};

/* Without pointers: the dynamic loader has nothing to do for it. Its form stays: `hakmem run` reads
 * the table in the files of older and newer versions, too (operate/options.py). */
typedef struct hak_option {
    char variable[32]; /* HAKMEM_PURGE_DELAY; behind HAK_PREFIX bytes its name elsewhere */
    unsigned long standard, lowest, highest;
} hak_option;
enum { HAK_PREFIX = 7 };

extern HAK_HIDDEN const hak_option hak_options[HAK_OPTIONS];

/* Whether it may change while the program runs; whether it takes K, M, G and a share in percent. */
bool hak_option_is_live(enum hak_option_index option);
bool hak_option_is_size(enum hak_option_index option);

/* A share of some limit: the percentage, and this. */
#define HAK_SHARE ((unsigned long)1 << 63)

/* The option with this name, written as in purge_delay, purge-delay or HAKMEM_PURGE_DELAY;
 * HAK_OPTIONS: none. */
enum hak_option_index hak_option_find(const char *name, size_t length);

HAK_INLINE char hak_lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* The name of a variable as it stands in a file, purge_delay, in `name`, which it returns. */
const char *hak_option_name(const char *variable, char name[32]);

/* False: the text is no value of this option, or out of its range. */
bool hak_option_parse(enum hak_option_index option, const char *text, unsigned long *value);

/* Text of a value in `buffer` (at least 22 bytes); returns it. */
const char *hak_option_text(unsigned long value, char buffer[22]);

/* ---- names that nobody reads, and which one may have been meant: policy/names.c ---- */

/* Whether something reads a variable of this name: this library, another variant of it, a tool. */
HAK_COLD bool hak_name_is_known(const char *name, size_t length);

/* Reports that `source` has a name that is no option, and which one looks most like it. `skip`
 * bytes at the beginning of each option's name are left out: then options that are no numbers do
 * not count. */
HAK_COLD void hak_name_refuse(const char *source, const char *name, size_t length, size_t skip);
