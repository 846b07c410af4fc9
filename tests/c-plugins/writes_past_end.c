/* Writes more than the host gave room for. */
#define AFTER_ENTRY memset(out + 1, 0, 32);
#include "plugin.h"
