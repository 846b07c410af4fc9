/* Does IN_CONSTRUCTOR while it is mapped; else a good plugin. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *nothing(void *with) { return with; }
static void __attribute__((constructor)) before_the_entry(void)
{
    (void)nothing;
    IN_CONSTRUCTOR
}
#include "plugin.h"
