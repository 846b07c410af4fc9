/* Computes org.test.double@1: FACTOR times each number, after IN_EXECUTE. */
#include <guild/guild.h>

#ifndef FACTOR
#define FACTOR 2.0f
#endif
#ifndef IN_EXECUTE
#define IN_EXECUTE
#endif

static guild_status doubles_supports(void *, uint32_t, const guild_op_req *, guild_refusal *);
static guild_status doubles_create(void *, uint32_t, const guild_op_req *, void **, guild_err *);
static guild_status doubles_prepare(void *, void *, const guild_stream *, guild_execute_fn *, guild_err *);

#define AFTER_ENTRY                                                                                \
    out->supports = doubles_supports;                                                              \
    out->create = doubles_create;                                                                  \
    out->prepare = doubles_prepare;
#include "plugin.h"

static guild_status doubles(void *inst, const guild_exec *x)
{
    const guild_tensor *from = x->inputs[0];
    guild_tensor *to = x->outputs[0];
    (void)inst;
    IN_EXECUTE
    for (uint64_t row = 0; row < *x->rows; row++) {
        const float *in = (const float *)((const char *)from->data + row * (uint64_t)from->stride[0]);
        float *out = (float *)((char *)to->data + row * (uint64_t)to->stride[0]);
        for (uint64_t at = 0; at < from->shape[1]; at++) {
            out[at] = in[at] * (FACTOR);
        }
    }
    return GUILD_STATUS_OK;
}

static guild_status doubles_supports(void *self, uint32_t index, const guild_op_req *request,
                                     guild_refusal *out)
{
    (void)self;
    (void)request;
    (void)out;
    return index == 1 ? GUILD_STATUS_OK : GUILD_STATUS_DECLINED;
}

static guild_status doubles_create(void *self, uint32_t index, const guild_op_req *request,
                                   void **inst, guild_err *err)
{
    static int instance;
    (void)self;
    (void)index;
    (void)request;
    (void)err;
    *inst = &instance;
    return GUILD_STATUS_OK;
}

static guild_status doubles_prepare(void *self, void *inst, const guild_stream *stream,
                                    guild_execute_fn *function, guild_err *err)
{
    (void)self;
    (void)inst;
    (void)stream;
    (void)err;
    *function = doubles;
    return GUILD_STATUS_OK;
}
