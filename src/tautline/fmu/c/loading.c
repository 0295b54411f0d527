/* Files of an FMU: the system that was exported, and the library for the processor that runs it. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loading.h"

enum { LONGEST = 4096, ALIGNED = 64 };

static bool path_of(char *path, const char *folder, const char *file) {
    const int size = snprintf(path, LONGEST, "%s/%s", folder, file);
    return size > 0 && size < LONGEST;
}

/* Content of a file, with a zero behind it; NULL if it cannot be read. */
static char *content(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    if (file == NULL) return NULL;
    if (fseek(file, 0, SEEK_END) == 0) {
        const long length = ftell(file);
        if (length >= 0 && fseek(file, 0, SEEK_SET) == 0) bytes = malloc((size_t)length + 1);
        if (bytes != NULL && fread(bytes, 1, (size_t)length, file) != (size_t)length) {
            free(bytes);
            bytes = NULL;
        }
        if (bytes != NULL) {
            bytes[length] = 0;
            *size = (size_t)length;
        }
    }
    fclose(file);
    return bytes;
}

/* Flags of the processor with a space on both sides of each, as Linux lists them; empty where it does not. */
static char *processor_flags(void) {
    FILE *file = fopen("/proc/cpuinfo", "r");
    static const size_t most = 1 << 16;
    char *found = calloc(most, 1), *line = calloc(most, 1);
    while (file != NULL && found != NULL && line != NULL && fgets(line, (int)most - 2, file) != NULL) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "flags", 5) == 0 && colon != NULL) {
            strcpy(found, colon + 1);
            found[strcspn(found, "\n")] = ' ';
            break;
        }
    }
    if (file != NULL) fclose(file);
    free(line);
    return found;
}

/* Name of the first library of a list whose flags the processor has; the list has one of them a line. */
static const char *chosen(char *list, const char *flags) {
    for (char *rest = NULL, *line = strtok_r(list, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        char *words = NULL, *name = strtok_r(line, " ", &words), wanted[64];
        bool fits = name != NULL;
        for (char *flag = strtok_r(NULL, " ", &words); fits && flag != NULL; flag = strtok_r(NULL, " ", &words)) {
            snprintf(wanted, sizeof wanted, " %s ", flag);
            fits = strstr(flags, wanted) != NULL;
        }
        if (fits) return name;
    }
    return NULL;
}

static bool load_library(Model *model, const char *folder) {
    char path[LONGEST];
    size_t size;
    char *list = path_of(path, folder, "libraries.txt") ? content(path, &size) : NULL;
    char *flags = processor_flags();
    const char *name = list != NULL && flags != NULL ? chosen(list, flags) : NULL;
    if (name != NULL && path_of(path, folder, name)) model->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (model->library == NULL)
        tell(model, ERROR, "resources: expected libraries.txt and a library for this processor in %s, got none (%s)",
             folder, name == NULL ? "no library is listed for it" : dlerror());
    free(list);
    free(flags);
    if (model->library == NULL) return false;
    *(void **)&model->march = dlsym(model->library, "tl_march_network");
    const char *const *stamp = dlsym(model->library, "tl_stamp");
    const int64_t *abi = dlsym(model->library, "tl_abi");
    if (model->march == NULL || stamp == NULL || abi == NULL || *abi != model->head.abi ||
        strncmp(*stamp, (const char *)&model->head.stamp, 16) != 0) {
        tell(model, ERROR, "resources: system.bin and %s were not exported together", path);
        return false;
    }
    return true;
}

/* Whether a block and the places that its header names lie within a file. */
static bool is_whole(const Header *head, size_t size) {
    const int64_t words = (int64_t)(size / sizeof(int64_t)), header = (int64_t)(sizeof *head / sizeof(int64_t));
    return head->magic == IMAGE_MAGIC && head->format == IMAGE_FORMAT && head->words > 0 && head->relocations >= 0 &&
           head->kept > 0 && head->kept <= head->words && head->words < INT64_C(1) << 32 &&
           head->relocations < head->words && header + head->words + head->relocations == words;
}

bool load_model(Model *model, const char *resources) {
    char path[LONGEST];
    size_t size = 0;
    char *bytes = path_of(path, resources, "system.bin") ? content(path, &size) : NULL;
    if (bytes == NULL) {
        tell(model, ERROR, "resources: expected the file system.bin in the folder %s, got none", resources);
        return false;
    }
    if (size >= sizeof model->head) memcpy(&model->head, bytes, sizeof model->head);
    if (!is_whole(&model->head, size)) {
        tell(model, ERROR, "resources: %s is damaged, or was not written for this FMU", path);
        free(bytes);
        return false;
    }
    model->file = bytes;
    if (strncmp(model->token, (const char *)&model->head.token, 5 * sizeof(int64_t)) != 0) {
        tell(model, ERROR, "GUID or instantiationToken: expected that of modelDescription.xml, got %s", model->token);
        return false;
    }
    model->image = (const double *)(const void *)(bytes + sizeof model->head);
    model->digest = digest_of(bytes, size);
    model->room = malloc((size_t)model->head.words * sizeof(double) + ALIGNED);
    if (model->room == NULL) {
        tell(model, ERROR, "out of memory");
        return false;
    }
    model->block = (double *)(((uintptr_t)model->room + ALIGNED - 1) / ALIGNED * ALIGNED);
    fill_block(model);
    return load_library(model, resources);
}

void unload_model(Model *model) {
    if (model->library != NULL) dlclose(model->library);
    free(model->room);
    free(model->file);
}

void fill_block(Model *model) {
    const int64_t *places = (const int64_t *)(const void *)(model->image + model->head.words);
    memcpy(model->block, model->image, (size_t)model->head.words * sizeof(double));
    for (int64_t i = 0; i < model->head.relocations; i++) {
        int64_t *word = whole_at(model, places[i]);
        *word = (int64_t)(intptr_t)(model->block + *word);
    }
}

uint64_t digest_of(const void *bytes, size_t size) {
    uint64_t digest = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < size; i++) digest = (digest ^ ((const unsigned char *)bytes)[i]) * UINT64_C(1099511628211);
    return digest;
}
