/* Says that it is another package than its signed manifest. */
#define PLUGIN_ID "org.test.impostor"
#include "plugin.h"
