/* Built with a newer header, and able to live with the oldest: to be accepted. */
#define MINOR_BUILT 9
#include "plugin.h"
