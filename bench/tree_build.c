/* Linked structures that are built and torn down as a whole.
 * tree: nodes of several sizes, freed from the leaves up, soon after they were made.
 * graph: nodes with a list of edges each; the edges come in random order, so the blocks of one
 * list lie far apart when the graph is torn down node by node. */
#include "common/block.h"

static bench_config config = {.ops = 10000000, .seed = 1, .threads = 1, .slots = 65535};

enum { TREE, GRAPH };
static uint64_t kind = TREE;
static const char *const kind_names[] = {"tree", "graph", NULL};
static const bench_option options[] = {
    {.name = "kind",
     .kind = BENCH_CHOICE,
     .value = &kind,
     .choices = kind_names,
     .help = "what is built"},
    {0},
};

enum { PAYLOADS = 1024, EDGES_PER_NODE = 7 };

typedef struct node {
    struct node *left, *right;
    unsigned char payload[];
} node;

typedef struct edge {
    struct edge *next;
    uint32_t to, weight;
} edge;

typedef struct vertex {
    edge *edges;
    uint32_t number;
} vertex;

typedef struct build_state {
    uint64_t at; /* in payloads */
    uint32_t payloads[PAYLOADS];
    vertex **vertices; /* of a graph */
    uint32_t *from;    /* of each edge, drawn before the clock starts */
} build_state;

static node *build_tree(build_state *state, uint64_t nodes) {
    if (nodes == 0)
        return NULL;
    size_t size = sizeof(node) + state->payloads[state->at++ % PAYLOADS];
    node *born = bench_malloc(size);
    ((unsigned char *)born)[size - 1] = 1;
    born->left = build_tree(state, nodes / 2);
    born->right = build_tree(state, nodes - 1 - nodes / 2);
    return born;
}

static void drop_tree(node *tree) {
    if (!tree)
        return;
    drop_tree(tree->left);
    drop_tree(tree->right);
    free(tree);
}

/* Of n blocks, one in eight is a vertex. */
static uint64_t vertices_of(uint64_t blocks) {
    return blocks / (EDGES_PER_NODE + 1) + 1;
}

static void build_graph(build_state *state, uint64_t blocks) {
    uint64_t vertices = vertices_of(blocks);
    for (uint32_t i = 0; i < vertices; i++) {
        state->vertices[i] = bench_malloc(sizeof(vertex));
        *state->vertices[i] = (vertex){NULL, i};
    }
    for (uint64_t i = 0; i < blocks - vertices; i++) {
        vertex *from = state->vertices[state->from[i] % vertices];
        edge *born = bench_malloc(sizeof *born);
        *born = (edge){from->edges, (uint32_t)i, from->number};
        from->edges = born;
    }
}

static void drop_graph(build_state *state, uint64_t blocks) {
    for (uint64_t i = 0; i < vertices_of(blocks); i++) {
        for (edge *at = state->vertices[i]->edges, *next; at; at = next) {
            next = at->next;
            free(at);
        }
        free(state->vertices[i]);
    }
}

void bench_measured(bench_worker *worker) {
    build_state *state = worker->state;
    for (uint64_t left = worker->ops; left > 0;) {
        uint64_t blocks = left < config.slots ? left : config.slots;
        if (kind == TREE) {
            drop_tree(build_tree(state, blocks));
        } else {
            build_graph(state, blocks);
            drop_graph(state, blocks);
        }
        left -= blocks;
    }
}

static void prepare(bench_worker *worker) {
    build_state *state = bench_table(sizeof *state);
    state->vertices = bench_table(vertices_of(config.slots) * sizeof *state->vertices);
    state->from = bench_table(config.slots * sizeof *state->from);
    for (size_t i = 0; i < PAYLOADS; i++)
        state->payloads[i] = (uint32_t)bench_random_in(&worker->rng, 8, 80);
    for (uint64_t i = 0; i < config.slots; i++)
        state->from[i] = (uint32_t)bench_random(&worker->rng);
    worker->state = state;
}

int main(int argc, char **argv) {
    static const bench_spec spec = {
        .name = "tree_build",
        .summary = "Builds a tree or a graph of --slots blocks, tears it down, and again.",
        .operation = "one block of it allocated and freed",
        .config = &config,
        .uses = BENCH_USES_THREADS | BENCH_USES_SLOTS,
        .options = options,
        .prepare = prepare,
    };
    return bench_main(argc, argv, &spec);
}
