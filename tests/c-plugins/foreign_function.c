/* A function of its table lies in libc. */
#define AFTER_ENTRY out->destroy = (void (*)(void *, void *))(uintptr_t)puts;
#include "plugin.h"
