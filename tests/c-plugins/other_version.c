/* Says that it is another version than its signed manifest. */
#define PLUGIN_VERSION "1.0.1"
#include "plugin.h"
