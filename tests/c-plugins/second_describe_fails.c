/* The first operation is fine, describing the second fails. */
#define IN_DESCRIBE \
    if (index == 1) \
        return fail(err, GUILD_STATUS_ERR_INTERNAL, "the second one is shy");
#include "plugin.h"
