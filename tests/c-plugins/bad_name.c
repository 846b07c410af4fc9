/* The name of an operation breaks the grammar. */
#define SECOND_NAME "org.test.Double"
#include "plugin.h"
