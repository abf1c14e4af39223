/* What a cold hint is worth: nodes that are walked again and again, and beside each a payload of
 * the same size that nobody looks at. With --hints the payloads come from operator new with the
 * hint that LLVM passes for cold (docs/install.md). */
#include "common/block.h"

static bench_config config = {.ops = 20000000, .seed = 1, .threads = 1, .slots = 100000};

enum { BY_CHANCE, BY_BIRTH };
static uint64_t size = 64, hints, order = BY_CHANCE;
static const char *const order_names[] = {"chance", "birth", NULL};
static const bench_option options[] = {
    {.name = "size",
     .kind = BENCH_BYTES,
     .value = &size,
     .min = 16,
     .max = 1 << 20,
     .help = "of every node and every payload"},
    {.name = "hints", .kind = BENCH_FLAG, .value = &hints, .help = "payloads are said to be cold"},
    {.name = "order",
     .kind = BENCH_CHOICE,
     .value = &order,
     .choices = order_names,
     .help = "in which the nodes are walked"},
    {0},
};

typedef struct node {
    struct node *next;
    void *payload;
} node;

enum { COLD = 1 };
void *hinted_new(size_t size, unsigned char hint) __asm__("_Znwm12__hot_cold_t")
    __attribute__((weak));

static void setup(bench_config *settings) {
    (void)settings;
    if (hints && hinted_new == NULL)
        bench_fail("the allocator has no operator new with hints");
}

static void *make_payload(void) {
    void *payload = hints ? hinted_new(size, COLD) : bench_malloc(size);
    bench_touch(payload, size);
    return payload;
}

static void shuffle(node **nodes, uint64_t *rng) {
    for (uint64_t i = config.slots - 1; i > 0; i--) {
        uint64_t other = bench_random_in(rng, 0, i);
        node *one = nodes[i];
        nodes[i] = nodes[other];
        nodes[other] = one;
    }
}

static void prepare(bench_worker *worker) {
    node **nodes = bench_table(config.slots * sizeof(node *));
    for (uint64_t i = 0; i < config.slots; i++) {
        nodes[i] = bench_malloc(size);
        nodes[i]->payload = make_payload();
    }
    if (order == BY_CHANCE)
        shuffle(nodes, &worker->rng);
    for (uint64_t i = 0; i < config.slots; i++)
        nodes[i]->next = nodes[(i + 1) % config.slots];
    worker->state = nodes;
}

void bench_measured(bench_worker *worker) {
    node **nodes = worker->state;
    const node *at = nodes[0];
    for (uint64_t i = 0; i < worker->ops; i++)
        at = at->next;
    if (at == NULL)
        bench_fail("a node was overwritten");
}

static void finish(bench_worker *worker) {
    node **nodes = worker->state;
    for (uint64_t i = 0; i < config.slots; i++) {
        free(nodes[i]->payload);
        free(nodes[i]);
    }
}

int main(int argc, char **argv) {
    static const bench_spec spec = {
        .name = "hints",
        .summary = "Nodes that are walked, and beside each a payload of its size that is not.",
        .operation = "one step to the next node",
        .config = &config,
        .uses = BENCH_USES_THREADS | BENCH_USES_SLOTS,
        .options = options,
        .setup = setup,
        .prepare = prepare,
        .finish = finish,
    };
    return bench_main(argc, argv, &spec);
}
