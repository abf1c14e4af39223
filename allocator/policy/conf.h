/* Strings of options: "purge_delay=100,huge_pages=1". Entries end with a comma or a line; a line
 * that begins with # says nothing. */
#pragma once

#include "policy/policy.h"

/* Puts what the string says into `draft`. `source` is what messages call it. An entry "file=..." is
 * left to hak_conf_file. Returns how many entries do not count; stderr says why. */
HAK_COLD int hak_conf_read(const char *source, const char *text, hak_policy *draft);

/* The path that the string names by "file=..." in `path`. False: it names none, or a bad one. */
enum { HAK_CONF_PATH = 512 };
HAK_COLD bool hak_conf_file(const char *text, char path[HAK_CONF_PATH], const hak_policy *draft);

/* The same of that file; -1: it may not be believed, as stderr says. */
HAK_COLD int hak_conf_read_file(const char *path, hak_policy *draft);

/* One entry, or one variable. False: it does not count, and stderr says why. */
HAK_COLD bool hak_conf_set(const char *source, enum hak_option_index option, const char *text,
                           hak_policy *draft);
