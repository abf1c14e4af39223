#include "policy/option.h"

#include "base/text.h"

#include <string.h>

#define HAK_OPTION(field, variable, kind, standard, lowest, highest, help)                         \
    {variable, standard, lowest, highest},
const hak_option hak_options[HAK_OPTIONS] = {
#include "policy/options.def"
#include HAK_VARIANT_OPTIONS
};
#undef HAK_OPTION

enum { LONGEST_NAME = sizeof hak_options[0].variable };
#define HAK_OPTION(field, name, kind, standard, lowest, highest, help)                             \
    _Static_assert((standard) >= (lowest) && (standard) <= (highest),                              \
                   name ": its default must be from " #lowest " to " #highest);                    \
    _Static_assert(sizeof name <= LONGEST_NAME, name ": too long");
#include "policy/options.def"
#include HAK_VARIANT_OPTIONS
#undef HAK_OPTION

enum { START, LIVE, SIZE };
#define HAK_OPTION(field, variable, kind, standard, lowest, highest, help) kind,
static const uint8_t kinds[HAK_OPTIONS] = {
#include "policy/options.def"
#include HAK_VARIANT_OPTIONS
};
#undef HAK_OPTION

bool hak_option_is_live(enum hak_option_index option) {
    return kinds[option] != START;
}

bool hak_option_is_size(enum hak_option_index option) {
    return kinds[option] == SIZE;
}

/* purge-delay is what hakmem run takes, purge_delay what the others are used to. */
static char plain(char c) {
    return c == '-' ? '_' : hak_lower(c);
}

static bool is_same(const char *name, size_t length, const char *variable) {
    for (size_t i = 0; i < length; i++)
        if (plain(name[i]) != hak_lower(variable[i]))
            return false;
    return variable[length] == '\0';
}

enum hak_option_index hak_option_find(const char *name, size_t length) {
    unsigned i = 0;
    while (i < HAK_OPTIONS && !is_same(name, length, hak_options[i].variable) &&
           !is_same(name, length, hak_options[i].variable + HAK_PREFIX))
        i++;
    return (enum hak_option_index)i;
}

const char *hak_option_name(const char *variable, char name[32]) {
    size_t i = 0;
    for (; variable[HAK_PREFIX + i] != '\0'; i++)
        name[i] = hak_lower(variable[HAK_PREFIX + i]);
    name[i] = '\0';
    return name;
}

static bool is_in_range(enum hak_option_index option, unsigned long value) {
    return value >= hak_options[option].lowest && value <= hak_options[option].highest;
}

/* K, M or G, also as KB and KiB: all of them mean 1024. */
static unsigned shift_of(const char *unit) {
    static const char units[] = "kmg";
    const char *found = strchr(units, hak_lower(*unit));
    bool ends = unit[1] == '\0' || is_same("b", 1, unit + 1) || is_same("ib", 2, unit + 1);
    return found != NULL && ends ? 10 * (unsigned)(found - units + 1) : 0;
}

/* What stands behind the digits of a size; not empty. */
static bool parse_unit(enum hak_option_index option, const char *unit, unsigned long *value) {
    if (strcmp(unit, "%") == 0) {
        bool is_share = *value >= 1 && *value <= 100;
        *value |= HAK_SHARE;
        return is_share;
    }
    unsigned shift = shift_of(unit);
    if (shift == 0 || *value > hak_options[option].highest >> shift)
        return false;
    *value <<= shift;
    return is_in_range(option, *value);
}

bool hak_option_parse(enum hak_option_index option, const char *text, unsigned long *value) {
    const char *rest = hak_read_decimal(text, value);
    if (rest == NULL)
        return false;
    if (*rest == '\0')
        return is_in_range(option, *value);
    return hak_option_is_size(option) && parse_unit(option, rest, value);
}

const char *hak_option_text(unsigned long value, char buffer[22]) {
    hak_print(buffer, 22, "%lu%s", value & ~HAK_SHARE, (value & HAK_SHARE) != 0 ? "%" : "");
    return buffer;
}
