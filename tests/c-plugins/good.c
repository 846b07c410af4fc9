/* Breaks nothing. */
#include "plugin.h"
