/* Says that it is another package than its note and its signed manifest. */
#define NOTE_ID "org.test.plugin"
#define PLUGIN_ID "org.test.impostor"
#include "plugin.h"
