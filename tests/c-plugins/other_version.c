/* Says that it is another version than its note and its signed manifest. */
#define NOTE_VERSION "1.0.0"
#define PLUGIN_VERSION "1.0.1"
#include "plugin.h"
