/* An interpreter of lists: every value is a small counted object of its own, as in scripting
 * languages. A script builds a list, maps, filters, sorts and joins it; most objects live for a
 * few steps, and each step frees the objects of the one before. */
#include "common/training.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { NUMBER, STRING, PAIR } value_kind;

typedef struct value {
    uint32_t references;
    value_kind kind;
    union {
        int64_t number;
        struct {
            struct value *head, *tail;
        };
        struct {
            size_t length;
            char text[];
        };
    };
} value;

static value *new_value(value_kind kind, size_t size) {
    value *born = training_need(malloc(size));
    born->references = 1;
    born->kind = kind;
    return born;
}

static value *new_number(int64_t number) {
    value *born = new_value(NUMBER, offsetof(value, number) + sizeof born->number);
    born->number = number;
    return born;
}

static value *new_string(const char *text, size_t length) {
    value *born = new_value(STRING, offsetof(value, text) + length + 1);
    born->length = length;
    memcpy(born->text, text, length);
    born->text[length] = '\0';
    return born;
}

/* Takes over both references. */
static value *new_pair(value *head, value *tail) {
    value *born = new_value(PAIR, offsetof(value, tail) + sizeof born->tail);
    born->head = head;
    born->tail = tail;
    return born;
}

static value *retain(value *self) {
    self->references++;
    return self;
}

/* Along the tail without recursion: lists are long. */
static void release(value *self) {
    while (self && --self->references == 0) {
        value *tail = NULL;
        if (self->kind == PAIR) {
            release(self->head);
            tail = self->tail;
        }
        free(self);
        self = tail;
    }
}

static value *range(uint64_t count, uint64_t *rng) {
    value *list = NULL;
    for (uint64_t i = 0; i < count; i++)
        list = new_pair(new_number((int64_t)training_below(rng, 1000000)), list);
    return list;
}

static value *map_square(value *list) {
    value *result = NULL;
    for (value *at = list; at; at = at->tail)
        result = new_pair(new_number(at->head->number * at->head->number % 1000003), result);
    release(list);
    return result;
}

static value *filter_odd(value *list) {
    value *result = NULL;
    for (value *at = list; at; at = at->tail)
        if (at->head->number % 2 != 0)
            result = new_pair(retain(at->head), result);
    release(list);
    return result;
}

/* Merges two sorted lists into a reversed one, then turns it round: new pairs, shared heads. */
static value *merge(value *left, value *right) {
    value *reversed = NULL, *result = NULL, *a = left, *b = right;
    while (a || b) {
        value **from = !b || (a && a->head->number <= b->head->number) ? &a : &b;
        reversed = new_pair(retain((*from)->head), reversed);
        *from = (*from)->tail;
    }
    for (value *at = reversed; at; at = at->tail)
        result = new_pair(retain(at->head), result);
    release(left);
    release(right);
    release(reversed);
    return result;
}

static value *sort(value *list) {
    value *halves[2] = {NULL, NULL};
    size_t side = 0;
    if (!list || !list->tail)
        return list;
    for (value *at = list; at; at = at->tail, side ^= 1)
        halves[side] = new_pair(retain(at->head), halves[side]);
    release(list);
    return merge(sort(halves[0]), sort(halves[1]));
}

/* A new string for every element and every joint, as naive scripts do. */
static value *join_text(value *list, uint64_t limit) {
    value *text = new_string("", 0);
    for (value *at = list; at && limit > 0; at = at->tail, limit--) {
        char digits[32];
        int length = snprintf(digits, sizeof digits, "%lld,", (long long)at->head->number);
        value *piece = new_string(digits, (size_t)length);
        value *longer = new_value(STRING, offsetof(value, text) + text->length + piece->length + 1);
        longer->length = text->length + piece->length;
        memcpy(longer->text, text->text, text->length);
        memcpy(longer->text + text->length, piece->text, piece->length + 1);
        release(text);
        release(piece);
        text = longer;
    }
    return text;
}

static uint64_t check_sorted(const value *list) {
    uint64_t sum = 0;
    for (const value *at = list; at; at = at->tail) {
        if (at->tail && at->head->number > at->tail->head->number)
            training_fail("objects: a sorted list is not sorted");
        sum = sum * 31 + (uint64_t)at->head->number;
    }
    return sum;
}

static uint64_t run_script(uint64_t length, uint64_t *rng) {
    value *list = sort(filter_odd(map_square(range(length, rng))));
    uint64_t sum = check_sorted(list);
    value *text = join_text(list, 100);
    for (size_t i = 0; i < text->length; i++)
        sum = sum * 31 + (unsigned char)text->text[i];
    release(text);
    release(list);
    return sum;
}

int main(int argc, char **argv) {
    training_options options = {.ops = 1200000, .seed = 1};
    training_parse(argc, argv, &options, "one element of a list that a script works on");
    uint64_t rng = training_seed(options.seed, 0), checksum = 0;
    for (uint64_t done = 0; done < options.ops;) {
        uint64_t length = training_size(&rng, 10, 20000);
        length = length < options.ops - done ? length : options.ops - done;
        checksum = checksum * 31 + run_script(length, &rng);
        done += length;
    }
    return training_done("objects", options.ops, checksum);
}
