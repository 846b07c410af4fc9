/* Lets an exception leave init, as C++ code without a catch does. */
#include <stdlib.h>
#include <unwind.h>
static void throw_exception(void)
{
    static struct _Unwind_Exception exception;
    _Unwind_RaiseException(&exception);
    abort();
}
#define IN_INIT throw_exception();
#include "plugin.h"
