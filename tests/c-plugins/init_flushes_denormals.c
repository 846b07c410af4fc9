/* Turns denormals off in init. */
#include <xmmintrin.h>
#define IN_INIT _mm_setcsr(_mm_getcsr() | 0x8040);
#include "plugin.h"
