/* Runs programs of the fuzzer without libFuzzer, in a build of any kind.
 *
 *   replay [--tell] [--freely] FILE|FOLDER...     those
 *   replay [--tell] [--freely] --random SEED COUNT   new ones */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mutate.h"
#include "programs.h"
#include "../allocator/support/check.h"

static size_t programs_run, calls_run;

static void run(const uint8_t *bytes, size_t size) {
    program_run(bytes, size);
    programs_run++;
    calls_run += size / CALL_BYTES;
}

static void replay_file(const char *path) {
    static uint8_t bytes[MOST_CALLS * CALL_BYTES];
    FILE *file = fopen(path, "rb");
    CHECK_THAT(file, "%s cannot be read", path);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    if (programs_are_told)
        say("%s", path);
    run(bytes, size);
}

static int is_program(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static void replay(const char *path) {
    struct dirent **entries;
    int count = scandir(path, &entries, is_program, alphasort);
    if (count < 0)
        replay_file(path);
    for (int i = 0; i < count; i++) {
        char inside[4096];
        snprintf(inside, sizeof inside, "%s/%s", path, entries[i]->d_name);
        replay_file(inside);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

static void invent(uint64_t seed, size_t count) {
    static uint8_t bytes[MOST_CALLS * CALL_BYTES];
    for (uint64_t i = 0; i < count; i++) {
        Random random = random_from(seed + i);
        if (programs_are_told)
            say("seed %llu", (unsigned long long)(seed + i));
        run(bytes, program_invent(&random, bytes, sizeof bytes));
    }
}

int main(int count, char **words) {
    for (int i = 1; i < count; i++) {
        if (strcmp(words[i], "--tell") == 0) {
            programs_are_told = true;
        } else if (strcmp(words[i], "--freely") == 0) {
            programs_run_freely = true;
        } else if (strcmp(words[i], "--random") == 0 && i + 2 < count) {
            invent(strtoull(words[i + 1], NULL, 0), strtoull(words[i + 2], NULL, 0) / TEST_SHARE);
            i += 2;
        } else {
            replay(words[i]);
        }
    }
    printf("%zu programs, %zu calls\n", programs_run, calls_run);
    return programs_run == 0;
}
