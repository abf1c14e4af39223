#include "base/fatal.h"
#include "base/text.h"
#include "leaks/leaks.h"
#include "leaks/origins.h"
#include "os/stack.h"

enum { GROUPS_TOLD = 10, AMOUNT = 64 };

/* Blocks, and what they hold. */
typedef struct sums {
    size_t blocks, bytes, held, held_bytes;
} sums;

static void add_group(sums *to, const sums *group) {
    to->blocks += group->blocks;
    to->bytes += group->bytes;
    to->held += group->held;
    to->held_bytes += group->held_bytes;
}

/* ---- words ---- */

/* "24 bytes in 1 block", "48 bytes in 2 blocks" */
static const char *amount(char text[AMOUNT], size_t bytes, size_t blocks) {
    hak_print(text, AMOUNT, "%zu bytes in %zu block%s", bytes, blocks, blocks == 1 ? "" : "s");
    return text;
}

static void tell_line(const char *before, const sums *s, const char *direct, const char *after) {
    char own[AMOUNT], held[AMOUNT];
    bool holds = s->held != 0;
    hak_message("%s%s%s%s%s%s", before, amount(own, s->bytes, s->blocks), direct,
                holds ? ", which hold " : "", holds ? amount(held, s->held_bytes, s->held) : "",
                after);
}

static void tell_group(const sums *group, uint32_t origin) {
    const hak_stack *stack = hak_origin_stack(origin);
    tell_line("  ", group, "", stack != NULL ? ", allocated:" : ", with no call stack");
    if (stack != NULL)
        hak_os_stack_write(stack->frames, stack->depth);
}

/* ---- groups: by origin ---- */

static sums groups[HAK_ORIGINS];

static void collect(sums *all) {
    for (hak_suspect *s = hak_suspected.all; s < hak_suspected.all + hak_suspected.count; s++)
        if (s->verdict == HAK_DIRECT) {
            sums one = {.blocks = 1, .bytes = s->size};
            one.held = hak_reach_count(s, &one.held_bytes);
            add_group(&groups[s->origin], &one);
            add_group(all, &one);
        }
}

static size_t weight(const sums *group) {
    return group->bytes + group->held_bytes;
}

/* The heaviest; HAK_ORIGINS: none is left. */
static uint32_t heaviest(void) {
    uint32_t best = HAK_ORIGINS;
    for (uint32_t i = 0; i < HAK_ORIGINS; i++)
        if (groups[i].blocks != 0 &&
            (best == HAK_ORIGINS || weight(&groups[i]) > weight(&groups[best])))
            best = i;
    return best;
}

static void tell_groups(void) {
    sums rest = {0};
    uint32_t origin;
    for (int told = 0; told < GROUPS_TOLD && (origin = heaviest()) != HAK_ORIGINS; told++) {
        tell_group(&groups[origin], origin);
        groups[origin] = (sums){0};
    }
    for (uint32_t i = 0; i < HAK_ORIGINS; i++)
        add_group(&rest, &groups[i]);
    if (rest.blocks != 0)
        tell_line("  ", &rest, "", ", by other call stacks");
}

static void forget_freed(bool (*lives)(const hak_suspect *s)) {
    for (hak_suspect *s = hak_suspected.all; s < hak_suspected.all + hak_suspected.count; s++)
        if (s->verdict != HAK_REACHED && !lives(s))
            s->verdict = HAK_REACHED;
}

size_t hak_leaks_tell(bool (*lives)(const hak_suspect *s)) {
    sums all = {0};
    forget_freed(lives);
    size_t left = hak_reach_split();
    if (left == 0)
        return 0;
    collect(&all);
    tell_line("hakmem: leaks: ", &all, " that nothing points to", "");
    tell_groups();
    return left;
}
