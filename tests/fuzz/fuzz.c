/* libFuzzer's view: https://llvm.org/docs/LibFuzzer.html */
#include <stdlib.h>

#include "mutate.h"
#include "programs.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    programs_run_freely = getenv("FUZZ_FREELY") != NULL;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    program_run(bytes, size);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed) {
    Random random = random_from(seed);
    return program_mutate(&random, bytes, size, most);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t size_a, const uint8_t *b, size_t size_b,
                                 uint8_t *out, size_t most, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t size_a, const uint8_t *b, size_t size_b,
                                 uint8_t *out, size_t most, unsigned seed) {
    Random random = random_from(seed);
    return program_cross(&random, a, size_a, b, size_b, out, most);
}

/* A check that fails ends the process; libFuzzer keeps the program when it sees an abort. */
_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);
_Noreturn void __wrap__exit(int status) {
    if (status != 0)
        abort();
    __real__exit(status);
}
