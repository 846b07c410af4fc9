/* Needs a minor version that no host speaks yet. */
#define MINOR_BUILT 9
#define MINOR_MIN 8
#include "plugin.h"
