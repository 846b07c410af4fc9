/*
 * The note by which a library says which package it is.
 *
 * Generated from sdk/guild-abi by tests/c-abi; don't edit.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef GUILD_NOTE_H
#define GUILD_NOTE_H

#include <stdint.h>

/** SHA-256 of layout.h, which fixes the size and offset of every field. */
#define GUILD_ABI_TABLE_HASH \
    "97dcdbf5de615eed216b0d2cf97eefb4dc60d590f7c616d76fe3aca69f41bdd3"

/** What the note says: three lines and a zero byte; see docs/package-format.md, section 8.2. */
#define GUILD_NOTE_TEXT(id, version) \
    "id=" id "\nversion=" version "\nabi=" GUILD_ABI_TABLE_HASH "\n"

/**
 * Says which package this library is, before it is loaded. Once in a library, with string literals:
 *
 *     GUILD_NOTE("org.example.kernels.cpu", "1.0.0");
 */
#if defined(__GNUC__)
#define GUILD_NOTE(id, version) \
    __attribute__((used, aligned(4), section(".note.guild"))) static const struct { \
        uint32_t name_bytes, text_bytes, type; \
        char name[8]; \
        char text[(sizeof GUILD_NOTE_TEXT(id, version) + 3) / 4 * 4]; \
    } guild_note = {6, sizeof GUILD_NOTE_TEXT(id, version), 1, "GUILD", GUILD_NOTE_TEXT(id, version)}
#endif

#endif /* GUILD_NOTE_H */
