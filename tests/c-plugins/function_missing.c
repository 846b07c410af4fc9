/* Has operations and no way to make an instance. */
#define AFTER_ENTRY out->create = NULL;
#include "plugin.h"
