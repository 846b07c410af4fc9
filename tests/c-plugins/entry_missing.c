/* Exports its entry under another name, and only mentions the right one. */
#define ENTRY guild_plugin_entry_v2
#include "plugin.h"
#pragma weak guild_plugin_entry_v1
guild_status (*const mentioned)(const guild_host_v1 *, guild_plugin_v1 *, guild_err *) = guild_plugin_entry_v1;
