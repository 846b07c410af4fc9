/* Describes one implementation of one operation twice. */
#define SECOND_NAME "org.test.double"
#define FIRST_NAME "org.test.double"
#define FIRST_IMPLEMENTATION "test.double"
#define IN_DESCRIBE memset(out->contract, 0, sizeof out->contract);
#include "plugin.h"
