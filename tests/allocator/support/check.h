/* Checks for the test programs. A failed check prints one line and ends the process with status 1.
 *
 * Nothing here allocates: a test of an allocator must be able to report while it is broken.
 */
#ifndef HAKMEM_TESTS_CHECK_H
#define HAKMEM_TESTS_CHECK_H

#ifdef __cplusplus
extern "C" {
#endif

/* Builds that make a program many times slower let it do only one part in so many of its work. */
#ifndef TEST_SHARE
#define TEST_SHARE 1
#endif

#define SKIPPED 77 /* ctest's SKIP_RETURN_CODE */

/* printf to stderr through a buffer on the stack and one write(2). */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

__attribute__((noreturn, format(printf, 3, 4))) void check_failed(const char *file, int line,
                                                                  const char *format, ...);

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            check_failed(__FILE__, __LINE__, "%s", #condition);                                    \
    } while (0)

/* Like CHECK, and says what the values were: CHECK_THAT(a == b, "a is %d", a). */
#define CHECK_THAT(condition, ...)                                                                 \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            say(__VA_ARGS__);                                                                      \
            check_failed(__FILE__, __LINE__, "%s", #condition);                                    \
        }                                                                                          \
    } while (0)

#ifdef __cplusplus
}
#endif
#endif
