/*
 * Everything that the guild ABI declares.
 *
 * Generated from sdk/guild-abi by tests/c-abi; don't edit.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef GUILD_GUILD_H
#define GUILD_GUILD_H

#include "abi.h"
#include "formats.h"
#include "core_ops.h"
#include "runner.h"
#include "ops.h"
#include "device.h"
#include "counters.h"
#include "layout.h"

#endif /* GUILD_GUILD_H */
