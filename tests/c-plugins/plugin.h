/*
 * A tiny whole plugin for the loader's tests: two operations, one runner, fixed counters.
 *
 * Each .c file of this folder defines the one thing that it breaks and then includes this file.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <guild/guild.h>
#include <guild/note.h>
#include <stdio.h>
#include <string.h>

#ifndef PLUGIN_ID
#define PLUGIN_ID "org.test.plugin"
#endif
#ifndef PLUGIN_VERSION
#define PLUGIN_VERSION "1.0.0"
#endif
/* What the note says, where it is another package or version than the plugin says in its table. */
#ifndef NOTE_ID
#define NOTE_ID PLUGIN_ID
#endif
#ifndef NOTE_VERSION
#define NOTE_VERSION PLUGIN_VERSION
#endif
#ifndef MINOR_BUILT
#define MINOR_BUILT GUILD_ABI_MINOR
#endif
#ifndef MINOR_MIN
#define MINOR_MIN 0
#endif
#ifndef ENTRY
#define ENTRY guild_plugin_entry_v1
#endif
/* Name of the first operation, and the implementations of both. */
#ifndef FIRST_NAME
#define FIRST_NAME "guild.core.add"
#endif
#ifndef FIRST_IMPLEMENTATION
#define FIRST_IMPLEMENTATION "test.add"
#endif
#ifndef SECOND_NAME
#define SECOND_NAME "org.test.double"
#endif
#ifndef SECOND_IMPLEMENTATION
#define SECOND_IMPLEMENTATION "test.double"
#endif
/* Statements at the start of the entry, after the table is filled, in init, and in describe. */
#ifndef BEFORE_ENTRY
#define BEFORE_ENTRY
#endif
#ifndef AFTER_ENTRY
#define AFTER_ENTRY
#endif
#ifndef IN_INIT
#define IN_INIT
#endif
#ifndef IN_DESCRIBE
#define IN_DESCRIBE
#endif

GUILD_NOTE(NOTE_ID, NOTE_VERSION);

static guild_str text(const char *from)
{
    guild_str to;
    to.ptr = (const uint8_t *)from;
    to.len = strlen(from);
    return to;
}

/* Leaves `message` as the reason and gives `status` back. */
static guild_status fail(guild_err *err, guild_status status, const char *message)
{
    size_t length = strlen(message);
    err->code = status;
    err->len = (uint32_t)length;
    memcpy(err->buf, message, length < err->cap ? length : err->cap);
    return status;
}

static guild_status plugin_init(void *self, uint32_t active_minor, guild_str config, guild_err *err)
{
    (void)self;
    (void)active_minor;
    (void)config;
    (void)err;
    IN_INIT
    return GUILD_STATUS_OK;
}

static guild_status plugin_describe(void *self, uint32_t index, guild_op_desc *out, guild_err *err)
{
    static const uint8_t add_contract[32] = GUILD_OP_ADD_CONTRACT;
    static const uint32_t formats[] = {GUILD_FORMAT_F32};
    (void)self;
    if (index > 1) {
        return fail(err, GUILD_STATUS_ERR_INVALID, "no such operation");
    }
    out->name = text(index == 0 ? FIRST_NAME : SECOND_NAME);
    out->implementation = text(index == 0 ? FIRST_IMPLEMENTATION : SECOND_IMPLEMENTATION);
    out->op_min = 1;
    out->op_max = 1;
    if (index == 0) {
        memcpy(out->contract, add_contract, sizeof add_contract);
    }
    out->phases = GUILD_PHASE_PREFILL | GUILD_PHASE_DECODE;
    out->exactness = GUILD_CLASS_EXACT;
    out->rank = 7;
    out->formats = formats;
    out->n_formats = 1;
    IN_DESCRIBE
    return GUILD_STATUS_OK;
}

static guild_status plugin_supports(void *self, uint32_t index, const guild_op_req *request,
                                    guild_refusal *out)
{
    (void)self;
    (void)index;
    (void)request;
    (void)out;
    return GUILD_STATUS_DECLINED;
}

static guild_status plugin_create(void *self, uint32_t index, const guild_op_req *request,
                                  void **inst, guild_err *err)
{
    (void)self;
    (void)index;
    (void)request;
    *inst = NULL;
    return fail(err, GUILD_STATUS_ERR_UNSUPPORTED, "the test plugin makes no instances");
}

static guild_status plugin_prepare(void *self, void *inst, const guild_stream *stream,
                                   guild_execute_fn *function, guild_err *err)
{
    (void)self;
    (void)inst;
    (void)stream;
    *function = NULL;
    return fail(err, GUILD_STATUS_ERR_UNSUPPORTED, "the test plugin makes no instances");
}

static void plugin_destroy(void *self, void *inst)
{
    (void)self;
    (void)inst;
}

static guild_status runner_info(void *self, uint32_t index, guild_runner_desc *out, guild_err *err)
{
    (void)self;
    (void)err;
    (void)index;
    out->id = text("test.runner.v1");
    out->architectures = text("alpha beta");
    return GUILD_STATUS_OK;
}

static guild_status runner_matches(void *self, uint32_t index, const guild_model_v1 *model,
                                   int32_t *score, guild_err *err)
{
    (void)self;
    (void)index;
    (void)model;
    (void)err;
    *score = 0;
    return GUILD_STATUS_DECLINED;
}

static guild_status runner_describe(void *self, uint32_t index, const guild_model_v1 *model,
                                    const guild_describe_params *params,
                                    const guild_builder_v1 *builder, guild_err *err)
{
    (void)self;
    (void)index;
    (void)model;
    (void)params;
    (void)builder;
    return fail(err, GUILD_STATUS_ERR_UNSUPPORTED, "the test plugin describes no model");
}

static guild_status count_operation(void *self, uint32_t index, guild_counter *out)
{
    (void)self;
    out->calls = 10 + index;
    out->rows = 100 + index;
    return GUILD_STATUS_OK;
}

static guild_status count_runner(void *self, uint32_t index, guild_counter *out)
{
    (void)self;
    out->calls = 20 + index;
    out->rows = 0;
    return GUILD_STATUS_OK;
}

static const void *plugin_get_extension(void *self, guild_str id)
{
    static guild_runner_v1 runners;
    static guild_counters_v1 counters;
    (void)self;
    if (id.len == 14 && memcmp(id.ptr, "guild.runner/1", 14) == 0) {
        runners.h.size = sizeof runners;
        runners.h.kind = GUILD_KIND_EXTENSION;
        runners.runner_count = 1;
        runners.info = runner_info;
        runners.matches = runner_matches;
        runners.describe = runner_describe;
        return &runners;
    }
    if (id.len == 16 && memcmp(id.ptr, "guild.counters/1", 16) == 0) {
        counters.h.size = sizeof counters;
        counters.h.kind = GUILD_KIND_EXTENSION;
        counters.operation = count_operation;
        counters.runner = count_runner;
        return &counters;
    }
    return NULL;
}

/* Leaves a file behind, so that a test can see that this ran. */
static void plugin_shutdown(void *self)
{
    (void)self;
#ifdef SHUTDOWN_FILE
    FILE *file = fopen(SHUTDOWN_FILE, "w");
    if (file != NULL) {
        fclose(file);
    }
#endif
}

guild_status ENTRY(const guild_host_v1 *host, guild_plugin_v1 *out, guild_err *err)
{
    (void)host;
    (void)err;
    BEFORE_ENTRY
    out->abi_minor_built = MINOR_BUILT;
    out->abi_minor_min = MINOR_MIN;
    out->id = text(PLUGIN_ID);
    out->version = text(PLUGIN_VERSION);
    out->op_count = 2;
    out->init = plugin_init;
    out->describe = plugin_describe;
    out->supports = plugin_supports;
    out->create = plugin_create;
    out->prepare = plugin_prepare;
    out->destroy = plugin_destroy;
    out->get_extension = plugin_get_extension;
    out->shutdown = plugin_shutdown;
    AFTER_ENTRY
    return GUILD_STATUS_OK;
}
