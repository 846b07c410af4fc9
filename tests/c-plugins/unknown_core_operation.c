/* Squats a name below guild. */
#define FIRST_NAME "guild.core.teleport"
#include "plugin.h"
