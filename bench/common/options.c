/* Options: one table for the common ones, one per program; parser and --help come from both. */
#include "bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMMON_MAX = 8 };

/* The rows of the common table that this program listens to, ended by an empty row. */
static void common_options(const bench_spec *spec, bench_option table[COMMON_MAX]) {
    bench_config *config = spec->config;
    const struct {
        unsigned use;
        bench_option option;
    } rows[] = {
        {0, {"ops", BENCH_COUNT, &config->ops, 1, 0, NULL, NULL, "measured operations in all"}},
        {0, {"seed", BENCH_COUNT, &config->seed, 0, 0, NULL, NULL, "of the random numbers"}},
        {BENCH_USES_THREADS,
         {"threads", BENCH_COUNT, &config->threads, 1, 1024, NULL, NULL, "workers"}},
        {BENCH_USES_SLOTS,
         {"slots", BENCH_COUNT, &config->slots, 1, 1u << 28, NULL, NULL,
          "blocks alive at a time, per worker"}},
        {BENCH_USES_SIZES,
         {"min-size", BENCH_BYTES, &config->min_size, 1, UINT32_MAX, NULL, "HAKMEM_BENCH_MIN_SIZE",
          "smallest block"}},
        {BENCH_USES_SIZES,
         {"max-size", BENCH_BYTES, &config->max_size, 1, UINT32_MAX, NULL, "HAKMEM_BENCH_MAX_SIZE",
          "largest block"}},
        {BENCH_USES_CHECK,
         {"check", BENCH_FLAG, &config->check, 0, 0, NULL, NULL,
          "fill blocks and verify them (slower)"}},
    };
    size_t used = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if ((rows[i].use & ~spec->uses) == 0)
            table[used++] = rows[i].option;
    table[used] = (bench_option){0};
}

static const char *placeholder(const bench_option *option) {
    switch (option->kind) {
    case BENCH_COUNT:
        return "N";
    case BENCH_BYTES:
        return "BYTES";
    case BENCH_CHOICE:
        return "NAME";
    case BENCH_TEXT:
        return "FILE";
    case BENCH_FLAG:
        break;
    }
    return "";
}

static void print_option(const bench_option *option) {
    char left[40];
    snprintf(left, sizeof left, "--%s %s", option->name, placeholder(option));
    printf("  %-20s %s", left, option->help);
    for (size_t i = 0; option->choices && option->choices[i]; i++)
        printf("%s%s", i ? ", " : ": ", option->choices[i]);
    if (option->kind == BENCH_CHOICE)
        printf(" (default %s)", option->choices[*option->value]);
    else if (option->kind != BENCH_FLAG && option->kind != BENCH_TEXT &&
             *option->value != UINT64_MAX)
        printf(" (default %llu)", (unsigned long long)*option->value);
    if (option->env)
        printf(", also by %s", option->env);
    putchar('\n');
}

static void print_help(const bench_spec *spec, const bench_option *common) {
    printf("usage: %s [OPTIONS]\n\n%s\nOne operation is %s.\n\n", spec->name, spec->summary,
           spec->operation);
    for (const bench_option *option = common; option->name; option++)
        print_option(option);
    for (const bench_option *option = spec->options; option && option->name; option++)
        print_option(option);
    printf("  %-20s %s\n\n", "--help", "this text");
    printf("N takes the suffixes k and M (1000, 1000000), BYTES takes KiB and MiB.\n"
           "The last line on stdout is the result, as key=value.\n"
           "Exit code: 0 done, 1 failed (no memory, contents changed), 2 wrong use.\n");
}

static bool parse_number(const char *text, bench_option_kind kind, uint64_t *number) {
    static const struct {
        const char *suffix;
        bench_option_kind kind;
        uint64_t unit;
    } units[] = {{"", BENCH_COUNT, 1},          {"k", BENCH_COUNT, 1000},
                 {"M", BENCH_COUNT, 1000000},   {"", BENCH_BYTES, 1},
                 {"KiB", BENCH_BYTES, 1 << 10}, {"MiB", BENCH_BYTES, 1 << 20}};
    char *end = NULL;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    uint64_t digits = strtoull(text, &end, 10);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (errno == 0 && units[i].kind == kind && strcmp(end, units[i].suffix) == 0)
            return !__builtin_mul_overflow(digits, units[i].unit, number);
    return false;
}

static bool parse_choice(const char *text, const char *const *choices, uint64_t *index) {
    for (size_t i = 0; choices[i]; i++)
        if (strcmp(text, choices[i]) == 0) {
            *index = i;
            return true;
        }
    return false;
}

static int set_option(const bench_option *option, const char *shown, const char *text) {
    uint64_t value = (uintptr_t)text;
    bool understood = option->kind == BENCH_TEXT     ? *text != '\0'
                      : option->kind == BENCH_CHOICE ? parse_choice(text, option->choices, &value)
                                                     : parse_number(text, option->kind, &value);
    bool in_range = option->kind == BENCH_CHOICE || option->kind == BENCH_TEXT ||
                    (value >= option->min && (option->max == 0 || value <= option->max));
    if (!understood || !in_range) {
        fprintf(stderr, "%s: '%s' is not allowed; see --help\n", shown, text);
        return BENCH_USAGE;
    }
    *option->value = value;
    return BENCH_OK;
}

/* The length of the name must fit too: `--slot` is not `--slots`. */
static const bench_option *find_option(const bench_option *table, const char *name, size_t length) {
    for (; table && table->name; table++)
        if (strlen(table->name) == length && strncmp(table->name, name, length) == 0)
            return table;
    return NULL;
}

static int read_environment(const bench_option *table) {
    for (; table->name; table++) {
        const char *text = table->env ? getenv(table->env) : NULL;
        if (text && set_option(table, table->env, text) != BENCH_OK)
            return BENCH_USAGE;
    }
    return BENCH_OK;
}

/* Reads the option at argv[*at], with its value in the same or in the next argument. */
static int read_argument(int argc, char **argv, int *at, const bench_option *common,
                         const bench_option *own) {
    const char *argument = argv[*at];
    const char *name = strncmp(argument, "--", 2) == 0 ? argument + 2 : "";
    size_t length = strcspn(name, "=");
    const bench_option *option = find_option(common, name, length);
    if (!option)
        option = find_option(own, name, length);
    if (!option) {
        fprintf(stderr, "unknown argument '%s'; see --help\n", argument);
        return BENCH_USAGE;
    }
    if (option->kind == BENCH_FLAG) {
        *option->value = 1;
        return BENCH_OK;
    }
    if (name[length] == '=')
        return set_option(option, option->name, name + length + 1);
    if (++*at < argc)
        return set_option(option, option->name, argv[*at]);
    fprintf(stderr, "--%s needs a value; see --help\n", option->name);
    return BENCH_USAGE;
}

int bench_parse(int argc, char **argv, const bench_spec *spec) {
    bench_option common[COMMON_MAX];
    common_options(spec, common);
    for (int at = 1; at < argc; at++)
        if (strcmp(argv[at], "--help") == 0) {
            print_help(spec, common);
            exit(BENCH_OK);
        }
    int result = read_environment(common);
    for (int at = 1; result == BENCH_OK && at < argc; at++)
        result = read_argument(argc, argv, &at, common, spec->options);
    if (result == BENCH_OK && (spec->uses & BENCH_USES_SIZES) &&
        spec->config->min_size > spec->config->max_size) {
        fprintf(stderr, "the smallest block is larger than the largest; see --help\n");
        return BENCH_USAGE;
    }
    return result;
}
