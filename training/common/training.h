/* What the training programs share: options, random numbers, the line of results.
 *
 * A training program is to behave like some kind of real program, not to be measured. It checks
 * what it stores, and its output depends on its options alone: run with another allocator, or
 * with an instrumented one, it must print the same line. */
#ifndef TRAINING_H
#define TRAINING_H

#include <stddef.h>
#include <stdint.h>

/* A program sets the defaults. An option whose default is 0 is one that it does not take. */
typedef struct training_options {
    uint64_t ops;
    uint64_t seed;
    uint64_t threads;
    uint64_t min_size; /* bytes, inclusive */
    uint64_t max_size;
} training_options;

/* Overwrites the defaults by what argv asks for. Ends the program after --help (exit code 0) and
 * after a wrong argument (exit code 2). */
void training_parse(int argc, char **argv, training_options *options, const char *operation);

/* Prints `training=NAME ops=N checksum=HEX` and returns the exit code for main. */
int training_done(const char *name, uint64_t ops, uint64_t checksum);

/* Returns the block, or ends the program (exit code 1) if there is none. */
void *training_need(void *block);

/* Ends the program with exit code 1 and this message. */
_Noreturn void training_fail(const char *message);

/* xorshift64*; the state must not be 0. */
uint64_t training_random(uint64_t *state);

/* In [0, limit). */
uint64_t training_below(uint64_t *state, uint64_t limit);

/* In [low, high], every doubling as likely as the next: small sizes are common, large ones rare. */
uint64_t training_size(uint64_t *state, uint64_t low, uint64_t high);

/* A state for training_random from a seed and a number that tells threads apart. */
uint64_t training_seed(uint64_t seed, uint64_t stream);

#endif
