/* Has a function whose resolver runs while the library is mapped, before any check. */
#define IN_INIT return chosen();
#include <guild/guild.h>
#include <fcntl.h>
static guild_status one(void)
{
    return GUILD_STATUS_OK;
}
static guild_status (*pick(void))(void)
{
#ifdef RESOLVER_FILE
    (void)open(RESOLVER_FILE, O_CREAT | O_WRONLY, 0600);
#endif
    return one;
}
static guild_status chosen(void) __attribute__((ifunc("pick")));
#include "plugin.h"
