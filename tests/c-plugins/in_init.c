/* Does IN_INIT in init; else a good plugin. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>
#include "plugin.h"
