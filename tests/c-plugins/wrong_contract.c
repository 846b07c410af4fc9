/* Knows another contract of a core operation. */
#define IN_DESCRIBE out->contract[31] ^= 1;
#include "plugin.h"
