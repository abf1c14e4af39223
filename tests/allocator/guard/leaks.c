/* What the guard says about blocks that nothing points to when a program ends (HAKMEM_LEAKS). The
 * program starts itself again for each case; a case ends by exit where its pointers lie. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/far_down.h"
#include "../support/threads.h"

enum { SIZE = 1000, MANY = 100000, ROOM = 64, CODE = 42, OWN_CODE = 3 };

typedef struct node {
    struct node *volatile next;
    char rest[40];
} node;

static node *volatile global;
static _Thread_local void *volatile of_thread;
static void *volatile *mapped;

static node *new_node(node *next) {
    node *made = malloc(sizeof *made);
    made->next = next;
    return made;
}

static node *new_list(size_t length) {
    node *list = NULL;
    for (size_t i = 0; i < length; i++)
        list = new_node(list);
    return list;
}

/* ---- leaks ---- */

static void forget_one(void) {
    char *volatile block = malloc(SIZE);
    block[0] = 1;
}
static void forget_many(void) {
    for (int i = 0; i < 5; i++)
        forget_one();
}
static void forget_list(void) {
    node *volatile list = new_list(10);
    list->rest[0] = 1;
}
static void forget_circle(void) {
    node *volatile last = new_node(NULL);
    last->next = new_node(new_node(last));
}
/* The one that is found first hangs from one that is found later. */
static void forget_tree(void) {
    node *nodes[8];
    for (int i = 0; i < 8; i++)
        nodes[i] = new_node(NULL);
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            if (nodes[j] > nodes[i] && (nodes[j]->next == NULL || nodes[i] > nodes[j]->next))
                nodes[j]->next = nodes[i];
}
static void forget_large(void) {
    char *volatile block = malloc(3000000);
    *(void **)(void *)(block + 2000000) = malloc(SIZE);
}
static void forget_nothing(void) {
    void *volatile block = malloc(0);
    CHECK(block);
}
static void forget_what_was_resized(void) {
    void *volatile block = malloc(200000);
    block = realloc(block, 150000);
    CHECK(block);
}
static void forget_in_child(void) {
    pid_t child = fork();
    if (child == 0) {
        far_down(forget_one, 20);
        exit(0);
    }
    waitpid(child, NULL, 0);
}
static void forget_all(void) {
    global = new_list(MANY);
    global = NULL;
}

/* ---- no leaks ---- */

static void in_global(void) {
    global = new_list(100);
}
static void in_many(void) {
    global = new_list(MANY);
}
static void in_thread_local(void) {
    of_thread = malloc(SIZE);
}
static void in_mapping(void) {
    mapped = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mapped[77777] = malloc(SIZE);
}
static void in_sealed_mapping(void) {
    in_mapping();
    CHECK(mprotect((void *)mapped, 1 << 20, PROT_READ) == 0);
}
static void by_inner_pointer(void) {
    global = (node *)(void *)((char *)malloc(SIZE) + SIZE - 1);
}
static void by_large_block(void) {
    void **large = malloc(3000000);
    large[222222] = malloc(SIZE);
    global = (node *)(void *)large;
}
static void at_no_bytes(void) {
    global = malloc(0);
}
static void in_library(void) {
    void *library = dlopen(getenv("TEST_HOLDER"), RTLD_NOW);
    CHECK_THAT(library, "%s", dlerror());
    void (*hold)(size_t) = (void (*)(size_t))dlsym(library, "hold");
    CHECK(hold);
    hold(SIZE);
}

/* These two end the program themselves. */
static void on_stack(void) {
    void *volatile blocks[ROOM];
    for (int i = 0; i < ROOM; i++)
        blocks[i] = malloc(SIZE);
    exit(blocks[ROOM - 1] == NULL);
}

static pthread_barrier_t barrier;

static void *hold_and_wait(void *none) {
    void *volatile block = malloc(SIZE);
    pthread_barrier_wait(&barrier);
    pause();
    free(block);
    return none;
}
static void on_other_stack(void) {
    pthread_barrier_init(&barrier, NULL, 2);
    thread_start(hold_and_wait, NULL);
    pthread_barrier_wait(&barrier);
    exit(0);
}

static void *churn(void *none) {
    for (unsigned i = 0;; i++) {
        void *volatile block = malloc(i * 37u % 200000);
        free(block);
    }
    return none;
}
/* What is told then is anybody's guess, but it ends. */
static void while_others_run(void) {
    for (int i = 0; i < 4; i++)
        thread_start(churn, NULL);
    global = new_list(20000);
    exit(0);
}

static const struct test {
    const char *name;
    void (*act)(void);
    const char *told; /* NULL: nothing */
} cases[] = {
    {"one", forget_one, "leaks: 1000 bytes in 1 block that nothing points to\n"},
    {"many", forget_many, "  5000 bytes in 5 blocks, allocated:\n"},
    {"list", forget_list, "  48 bytes in 1 block, which hold 432 bytes in 9 blocks, allocated:\n"},
    {"circle", forget_circle, "  48 bytes in 1 block, which hold 96 bytes in 2 blocks, allocated"},
    {"tree", forget_tree, "  48 bytes in 1 block, which hold 336 bytes in 7 blocks, allocated"},
    {"large", forget_large, "3000000 bytes in 1 block, which hold 1000 bytes in 1 block"},
    {"nothing", forget_nothing, "leaks: 0 bytes in 1 block that nothing points to\n"},
    {"resized", forget_what_was_resized, "leaks: 150000 bytes in 1 block that"},
    {"child", forget_in_child, "leaks: 1000 bytes in 1 block that nothing points to\n"},
    {"all", forget_all, "48 bytes in 1 block, which hold 4799952 bytes in 99999 blocks"},
    {"in_global", in_global, NULL},
    {"in_many", in_many, NULL},
    {"in_thread_local", in_thread_local, NULL},
    {"in_mapping", in_mapping, NULL},
    {"in_sealed_mapping", in_sealed_mapping, NULL},
    {"by_inner_pointer", by_inner_pointer, NULL},
    {"by_large_block", by_large_block, NULL},
    {"at_no_bytes", at_no_bytes, NULL},
    {"in_library", in_library, NULL},
    {"on_stack", on_stack, NULL},
    {"on_other_stack", on_other_stack, NULL},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static void at_exit(void) {
    printf("handler, ");
}

/* stdout is a pipe here, so what is printed is flushed by exit alone. */
static int act(const char *name, int code) {
    atexit(at_exit);
    printf("main, ");
    for (int i = 0; i < CASES; i++)
        if (strcmp(name, cases[i].name) == 0)
            far_down(cases[i].act, 20);
    if (strcmp(name, "while_others_run") == 0)
        while_others_run();
    return code;
}

/* ---- runs ---- */

static char text[1 << 16];

/* Runs a case with HAKMEM_LEAKS as said; `text` is what it says by this descriptor. */
static int run(const char *name, const char *leaks, const char *code, int descriptor) {
    setenv("HAKMEM_LEAKS", leaks, 1);
    char *arguments[] = {"leaks", (char *)name, (char *)code, NULL};
    int status = run_again(arguments, descriptor, text, sizeof text);
    CHECK_THAT(WIFEXITED(status), "%s: wait status %d:\n%s", name, status, text);
    return WEXITSTATUS(status);
}

static void check_case(const struct test *t) {
    int code = run(t->name, "1", "0", STDERR_FILENO);
    CHECK_THAT(code == 0, "%s: exit code %d:\n%s", t->name, code, text);
    if (t->told == NULL) {
        CHECK_THAT(text[0] == '\0', "%s: no leak:\n%s", t->name, text);
        return;
    }
    CHECK_THAT(strncmp(text, "hakmem: leaks: ", 15) == 0 && strstr(text, t->told),
               "%s: '%s' is not in:\n%s", t->name, t->told, text);
#ifdef __GLIBC__
    CHECK_THAT(strstr(text, "leaks+0x"), "%s: no function of this program:\n%s", t->name, text);
#endif
}

static void check_code(const char *name, const char *leaks, const char *own, int expected) {
    int code = run(name, leaks, own, STDOUT_FILENO);
    CHECK_THAT(code == expected, "%s, HAKMEM_LEAKS=%s: exit code %d, not %d", name, leaks, code,
               expected);
    CHECK_THAT(strcmp(text, "main, handler, ") == 0, "%s: '%s' was printed", name, text);
}

int main(int count, char **arguments) {
    if (count == 3)
        return act(arguments[1], atoi(arguments[2]));
    hang_limit();
    for (int i = 0; i < CASES; i++)
        check_case(&cases[i]);
    check_code("one", "42", "0", CODE);
    check_code("one", "42", "3", OWN_CODE);
    check_code("one", "1", "0", 0);
    check_code("in_global", "42", "0", 0);
    check_code("in_global", "42", "3", OWN_CODE);
    CHECK(run("one", "0", "0", STDERR_FILENO) == 0 && text[0] == '\0');
    for (int i = 0; i < 20; i++)
        run("while_others_run", "1", "0", STDERR_FILENO);
    return 0;
}
