/* Text processing: words are copied, joined into a growing text, counted in a hash table that
 * grows by calloc, collected in a vector that grows by realloc, and all is dropped at the end of
 * each document. */
#include "common/training.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS_PER_DOCUMENT = 5000, FIRST_BUCKETS = 16 };

typedef struct entry {
    struct entry *next;
    char *word;
    uint64_t hash;
    uint64_t count;
} entry;

typedef struct document {
    char *text;
    size_t text_length, text_capacity;
    char **words;
    size_t word_count, word_capacity;
    entry **buckets;
    size_t bucket_count, entry_count;
} document;

static uint64_t hash_of(const char *word) {
    uint64_t hash = 14695981039346656037u;
    while (*word)
        hash = (hash ^ (unsigned char)*word++) * 1099511628211u;
    return hash;
}

/* Short words are frequent and repeat; long ones are rare. */
static void draw_word(uint64_t *rng, char *word) {
    size_t length = (size_t)training_size(rng, 1, 40);
    uint64_t letters = length < 4 ? 6 : 3;
    for (size_t i = 0; i < length; i++)
        word[i] = (char)('a' + training_below(rng, letters));
    word[length] = '\0';
}

/* As string builders do: half as much again when the text is full. */
static void append_text(document *self, const char *word) {
    size_t length = strlen(word);
    while (self->text_length + length + 2 > self->text_capacity) {
        self->text_capacity = self->text_capacity * 3 / 2 + 16;
        self->text = training_need(realloc(self->text, self->text_capacity));
    }
    memcpy(self->text + self->text_length, word, length);
    self->text_length += length;
    self->text[self->text_length++] = ' ';
    self->text[self->text_length] = '\0';
}

static void append_word(document *self, const char *word) {
    if (self->word_count == self->word_capacity) {
        self->word_capacity = self->word_capacity ? 2 * self->word_capacity : 4;
        self->words = training_need(realloc(self->words, self->word_capacity * sizeof(char *)));
    }
    self->words[self->word_count++] = training_need(strdup(word));
}

static void grow_table(document *self) {
    size_t count = self->bucket_count ? 2 * self->bucket_count : FIRST_BUCKETS;
    entry **buckets = training_need(calloc(count, sizeof *buckets));
    for (size_t i = 0; i < self->bucket_count; i++)
        for (entry *at = self->buckets[i], *next; at; at = next) {
            next = at->next;
            at->next = buckets[at->hash % count];
            buckets[at->hash % count] = at;
        }
    free(self->buckets);
    self->buckets = buckets;
    self->bucket_count = count;
}

static void count_word(document *self, const char *word) {
    if (self->entry_count >= self->bucket_count)
        grow_table(self);
    uint64_t hash = hash_of(word);
    entry **bucket = &self->buckets[hash % self->bucket_count];
    for (entry *at = *bucket; at; at = at->next)
        if (at->hash == hash && strcmp(at->word, word) == 0) {
            at->count++;
            return;
        }
    entry *born = training_need(malloc(sizeof *born));
    *born = (entry){*bucket, training_need(strdup(word)), hash, 1};
    *bucket = born;
    self->entry_count++;
}

/* Splitting the text again must give the words that went in. */
static uint64_t check_text(const document *self) {
    char *copy = training_need(strndup(self->text, self->text_length));
    char *rest = NULL;
    uint64_t sum = 0;
    size_t at = 0;
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        if (at >= self->word_count || strcmp(word, self->words[at++]) != 0)
            training_fail("strings: the text is not what was put in");
        sum = sum * 31 + hash_of(word);
    }
    free(copy);
    return sum;
}

/* Returns the number of different words, weighted by how often they came. */
static uint64_t drop(document *self) {
    uint64_t sum = 0;
    for (size_t i = 0; i < self->bucket_count; i++)
        for (entry *at = self->buckets[i], *next; at; at = next) {
            next = at->next;
            sum += at->count * at->hash;
            free(at->word);
            free(at);
        }
    for (size_t i = 0; i < self->word_count; i++)
        free(self->words[i]);
    free(self->buckets);
    free(self->words);
    free(self->text);
    return sum;
}

int main(int argc, char **argv) {
    training_options options = {.ops = 1600000, .seed = 1};
    training_parse(argc, argv, &options, "one word, copied, appended and counted");
    uint64_t rng = training_seed(options.seed, 0), checksum = 0;
    for (uint64_t done = 0; done < options.ops;) {
        document paper = {0};
        for (int i = 0; i < WORDS_PER_DOCUMENT && done < options.ops; i++, done++) {
            char word[48];
            draw_word(&rng, word);
            append_text(&paper, word);
            append_word(&paper, word);
            count_word(&paper, word);
        }
        checksum ^= check_text(&paper);
        checksum += drop(&paper);
    }
    return training_done("strings", options.ops, checksum);
}
