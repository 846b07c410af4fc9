/* The entry works and init says no. */
#define IN_INIT return fail(err, GUILD_STATUS_ERR_INTERNAL, "no luck today");
#include "plugin.h"
