/* Files of an FMU, and the memory of an instance. */

#ifndef LOADING_H
#define LOADING_H
#include "model.h"

/* Read the system and load the library for this processor from a folder; what is wrong is reported. */
bool load_model(Model *model, const char *resources);
void unload_model(Model *model);
/* The block as it was exported. */
void fill_block(Model *model);
/* Digest of bytes (FNV-1a). */
uint64_t digest_of(const void *bytes, size_t size);
#endif
