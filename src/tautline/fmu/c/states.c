/* States of an instance: the front part of its block, kept in memory or as bytes. */

#include <stdlib.h>
#include <string.h>

#include "loading.h"

/* Words before those of a serialized state: what it is, of which FMU, how long, in which mode; and a digest behind. */
enum { SERIAL_MAGIC, SERIAL_MODEL, SERIAL_WORDS, SERIAL_MODE, SERIAL_HEAD };

static Saved *new_state(Model *model) {
    Saved *saved = malloc(sizeof *saved + (size_t)model->head.kept * sizeof(double));
    if (saved == NULL) {
        tell(model, ERROR, "out of memory");
        return NULL;
    }
    saved->next = model->saved;
    model->saved = saved;
    return saved;
}

Saved *save_state(Model *model) {
    Saved *saved = new_state(model);
    if (saved == NULL) return NULL;
    saved->mode = model->mode;
    memcpy(saved->words, model->block, (size_t)model->head.kept * sizeof(double));
    return saved;
}

bool owns_state(const Model *model, const Saved *saved) {
    for (const Saved *own = model->saved; own != NULL; own = own->next)
        if (own == saved) return true;
    return false;
}

void restore_state(Model *model, const Saved *saved) {
    model->mode = saved->mode;
    memcpy(model->block, saved->words, (size_t)model->head.kept * sizeof(double));
    apply_parameters(model);
    model->started = (saved->mode & (INSTANTIATED | INITIALIZING)) == 0;
}

void forget_state(Model *model, Saved *saved) {
    for (Saved **own = &model->saved; *own != NULL; own = &(*own)->next)
        if (*own == saved) {
            *own = saved->next;
            free(saved);
            return;
        }
}

size_t state_size(const Model *model) { return ((size_t)model->head.kept + SERIAL_HEAD + 1) * sizeof(double); }

void write_state(const Model *model, const Saved *saved, void *bytes) {
    const uint64_t head[SERIAL_HEAD] = {(uint64_t)IMAGE_MAGIC + 1, model->digest, (uint64_t)model->head.kept,
                                        (uint64_t)saved->mode};
    const size_t size = state_size(model) - sizeof(double);
    memcpy(bytes, head, sizeof head);
    memcpy((char *)bytes + sizeof head, saved->words, (size_t)model->head.kept * sizeof(double));
    const uint64_t digest = digest_of(bytes, size);
    memcpy((char *)bytes + size, &digest, sizeof digest);
}

Saved *read_state(Model *model, const void *bytes, size_t size) {
    uint64_t head[SERIAL_HEAD], digest;
    if (size != state_size(model)) {
        tell(model, ERROR, "serializedState: expected %zu bytes, got %zu", state_size(model), size);
        return NULL;
    }
    memcpy(head, bytes, sizeof head);
    memcpy(&digest, (const char *)bytes + size - sizeof digest, sizeof digest);
    if (head[SERIAL_MAGIC] != (uint64_t)IMAGE_MAGIC + 1 || head[SERIAL_MODEL] != model->digest ||
        digest != digest_of(bytes, size - sizeof digest)) {
        tell(model, ERROR, "serializedState: expected a state of this FMU, got one of another, or a damaged one");
        return NULL;
    }
    Saved *saved = new_state(model);
    if (saved == NULL) return NULL;
    saved->mode = (Mode)head[SERIAL_MODE];
    memcpy(saved->words, (const char *)bytes + sizeof head, (size_t)model->head.kept * sizeof(double));
    return saved;
}
