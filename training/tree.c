/* An ordered map (a treap whose values are byte strings) under insertions, look-ups and deletions,
 * and a graph whose nodes grow lists of neighbours; both are torn down and built again. */
#include "common/training.h"

#include <stdlib.h>
#include <string.h>

enum { OPS_PER_ROUND = 60000, KEYS = 20000, GRAPH_NODES = 3000 };

typedef struct node {
    struct node *child[2];
    uint64_t key, priority;
    unsigned char *value;
    size_t length;
} node;

static void split(node *tree, uint64_t key, node **low, node **high) {
    if (!tree) {
        *low = *high = NULL;
    } else if (tree->key < key) {
        split(tree->child[1], key, &tree->child[1], high);
        *low = tree;
    } else {
        split(tree->child[0], key, low, &tree->child[0]);
        *high = tree;
    }
}

static node *join(node *low, node *high) {
    if (!low || !high)
        return low ? low : high;
    if (low->priority > high->priority) {
        low->child[1] = join(low->child[1], high);
        return low;
    }
    high->child[0] = join(low, high->child[0]);
    return high;
}

static node *find(node *tree, uint64_t key) {
    while (tree && tree->key != key)
        tree = tree->child[tree->key < key];
    return tree;
}

static void set_value(node *self, uint64_t *rng) {
    free(self->value);
    self->length = (size_t)training_size(rng, 1, 300);
    self->value = training_need(malloc(self->length));
    memset(self->value, (int)(self->key & 0xff), self->length);
}

static uint64_t drop_node(node *self) {
    if (self->value[0] != (self->key & 0xff) || self->value[self->length - 1] != self->value[0])
        training_fail("tree: a value changed while it was stored");
    uint64_t sum = self->key * self->length;
    free(self->value);
    free(self);
    return sum;
}

static node *insert(node *tree, uint64_t key, uint64_t *rng) {
    node *low, *high, *known = find(tree, key);
    if (known) {
        set_value(known, rng);
        return tree;
    }
    node *born = training_need(calloc(1, sizeof *born));
    born->key = key;
    born->priority = training_random(rng);
    set_value(born, rng);
    split(tree, key, &low, &high);
    return join(join(low, born), high);
}

static node *erase(node *tree, uint64_t key, uint64_t *sum) {
    node *low, *middle, *high;
    split(tree, key, &low, &high);
    split(high, key + 1, &middle, &high);
    if (middle)
        *sum += drop_node(middle);
    return join(low, high);
}

static uint64_t drop_tree(node *tree) {
    if (!tree)
        return 0;
    uint64_t sum = drop_tree(tree->child[0]) + drop_tree(tree->child[1]);
    return sum + drop_node(tree);
}

static uint64_t map_round(uint64_t ops, uint64_t *rng) {
    node *tree = NULL;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < ops; i++) {
        uint64_t key = training_below(rng, KEYS), action = training_below(rng, 10);
        if (action < 5)
            tree = insert(tree, key, rng);
        else if (action < 8)
            tree = erase(tree, key, &sum);
        else
            sum += find(tree, key) != NULL;
    }
    return sum + drop_tree(tree);
}

typedef struct vertex {
    uint32_t *edges;
    uint32_t count, capacity, seen;
} vertex;

static void connect(vertex *from, uint32_t to) {
    if (from->count == from->capacity) {
        from->capacity = from->capacity ? from->capacity * 2 : 2;
        from->edges = training_need(realloc(from->edges, from->capacity * sizeof *from->edges));
    }
    from->edges[from->count++] = to;
}

/* Breadth first from vertex 0: how many can be reached. */
static uint64_t reach(vertex **graph) {
    uint32_t *queue = training_need(calloc(GRAPH_NODES, sizeof *queue));
    size_t head = 0, tail = 1;
    graph[0]->seen = 1;
    while (head < tail) {
        vertex *at = graph[queue[head++]];
        for (uint32_t i = 0; i < at->count; i++)
            if (!graph[at->edges[i]]->seen) {
                graph[at->edges[i]]->seen = 1;
                queue[tail++] = at->edges[i];
            }
    }
    free(queue);
    return tail;
}

static uint64_t graph_round(uint64_t *rng) {
    vertex **graph = training_need(malloc(GRAPH_NODES * sizeof(vertex *)));
    for (uint32_t i = 0; i < GRAPH_NODES; i++)
        graph[i] = training_need(calloc(1, sizeof(vertex)));
    for (uint32_t i = 0; i < 4 * GRAPH_NODES; i++)
        connect(graph[training_below(rng, GRAPH_NODES)],
                (uint32_t)training_below(rng, GRAPH_NODES));
    uint64_t reached = reach(graph);
    for (uint32_t i = 0; i < GRAPH_NODES; i++) {
        free(graph[i]->edges);
        free(graph[i]);
    }
    free(graph);
    return reached;
}

int main(int argc, char **argv) {
    training_options options = {.ops = 1200000, .seed = 1};
    training_parse(argc, argv, &options, "one insertion, deletion or look-up in the map");
    uint64_t rng = training_seed(options.seed, 0), checksum = 0;
    for (uint64_t done = 0; done < options.ops; done += OPS_PER_ROUND) {
        uint64_t left = options.ops - done;
        checksum = checksum * 31 + map_round(left < OPS_PER_ROUND ? left : OPS_PER_ROUND, &rng);
        checksum = checksum * 31 + graph_round(&rng);
    }
    return training_done("tree", options.ops, checksum);
}
