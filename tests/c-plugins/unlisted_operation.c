/* Offers an operation that its signed manifest does not list. */
#define SECOND_NAME "org.test.triple"
#include "plugin.h"
