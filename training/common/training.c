#include "training.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_HELP = 5 };

static const struct option long_options[] = {
    {"ops", required_argument, NULL, 0},
    {"seed", required_argument, NULL, 1},
    {"threads", required_argument, NULL, 2},
    {"min-size", required_argument, NULL, 3},
    {"max-size", required_argument, NULL, 4},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

static _Noreturn void usage(const char *program, const char *complaint) {
    fprintf(stderr, "%s: %s; see --help\n", program, complaint);
    exit(2);
}

static uint64_t *value_of(training_options *options, int index) {
    uint64_t *const values[] = {&options->ops, &options->seed, &options->threads,
                                &options->min_size, &options->max_size};
    return values[index];
}

static void print_help(const char *program, training_options *options, const char *operation) {
    printf("usage: %s [OPTIONS]\n\nAn operation is %s.\n\n", program, operation);
    for (int i = 0; i < OPTION_HELP; i++)
        if (*value_of(options, i) != 0)
            printf("  --%-10s N   (default %llu)\n", long_options[i].name,
                   (unsigned long long)*value_of(options, i));
    printf("\nN takes the suffixes k and M (1000, 1000000).\n");
}

/* A number from 1 to 2^40; 0 for anything else. */
static uint64_t parse_number(const char *text) {
    char *end = NULL;
    unsigned long long number = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    if (number == 0 || number > 1ull << 40)
        return 0;
    if (strcmp(end, "k") == 0)
        return number * 1000;
    if (strcmp(end, "M") == 0)
        return number * 1000000;
    return *end == '\0' ? number : 0;
}

void training_parse(int argc, char **argv, training_options *options, const char *operation) {
    int index;
    training_options defaults = *options;
    while ((index = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        if (index == OPTION_HELP) {
            print_help(argv[0], &defaults, operation);
            exit(0);
        }
        if (index == '?')
            exit(2);
        if (*value_of(&defaults, index) == 0)
            usage(argv[0], "this program does not take that option");
        if ((*value_of(options, index) = parse_number(optarg)) == 0)
            usage(argv[0], "a number from 1 on is needed");
    }
    if (optind < argc)
        usage(argv[0], "no arguments besides options");
    if (options->min_size > options->max_size)
        usage(argv[0], "the smallest size is above the largest");
    if (options->threads > 256)
        usage(argv[0], "at most 256 threads");
}

int training_done(const char *name, uint64_t ops, uint64_t checksum) {
    printf("training=%s ops=%llu checksum=%016llx\n", name, (unsigned long long)ops,
           (unsigned long long)checksum);
    return fflush(stdout) == 0 ? 0 : 1;
}

void training_fail(const char *message) {
    fprintf(stderr, "%s\n", message);
    exit(1);
}

void *training_need(void *block) {
    if (block == NULL)
        training_fail("out of memory");
    return block;
}

uint64_t training_random(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545F4914F6CDD1Du;
}

uint64_t training_below(uint64_t *state, uint64_t limit) {
    return (training_random(state) >> 16) % limit;
}

uint64_t training_size(uint64_t *state, uint64_t low, uint64_t high) {
    uint64_t top = high;
    while (top / 2 >= low && training_random(state) >> 62 != 0)
        top /= 2;
    return low + training_below(state, top - low + 1);
}

uint64_t training_seed(uint64_t seed, uint64_t stream) {
    uint64_t state = (seed + 1) * 0x9E3779B97F4A7C15u + stream * 0xD1342543DE82EF95u;
    return state != 0 ? state : 1;
}
