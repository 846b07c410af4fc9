/* Exports its entry under another name. */
#define ENTRY guild_plugin_entry_v2
#include "plugin.h"
