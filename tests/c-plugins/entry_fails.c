/* The entry says no, with a reason that would clear a terminal. */
#define BEFORE_ENTRY \
    return fail(err, GUILD_STATUS_ERR_UNSUPPORTED, "needs a quantum \033[2Jcoprocessor");
#include "plugin.h"
