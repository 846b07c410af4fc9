/* Sets a flag that the host must understand. */
#define AFTER_ENTRY out->h.flags = 0x4000;
#include "plugin.h"
