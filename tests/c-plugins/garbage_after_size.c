/* Claims a table that ends before get_extension, with garbage after it: to be accepted, without runner. */
#include <stddef.h>
#define AFTER_ENTRY \
    out->h.size = offsetof(guild_plugin_v1, get_extension); \
    memset((char *)out + out->h.size, 0x5a, sizeof *out - out->h.size);
#include "plugin.h"
