/*
 * Size and field offsets of every struct, asserted by the compiler that reads this.
 *
 * Generated from sdk/guild-abi by tests/c-abi; don't edit.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef GUILD_LAYOUT_H
#define GUILD_LAYOUT_H

#include "abi.h"
#include "formats.h"
#include "core_ops.h"
#include "runner.h"
#include "ops.h"
#include "device.h"
#include "counters.h"

#include <stddef.h>

/* An array type of negative size is the only assertion that C99 has. */
#if defined(__cplusplus)
#define GUILD_LAYOUT(condition, name) static_assert(condition, #name)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define GUILD_LAYOUT(condition, name) _Static_assert(condition, #name)
#else
#define GUILD_LAYOUT(condition, name) typedef char guild_layout_##name[(condition) ? 1 : -1]
#endif

GUILD_LAYOUT(sizeof(guild_hdr) == 16, guild_hdr);
GUILD_LAYOUT(offsetof(guild_hdr, size) == 0, guild_hdr_size);
GUILD_LAYOUT(offsetof(guild_hdr, kind) == 4, guild_hdr_kind);
GUILD_LAYOUT(offsetof(guild_hdr, flags) == 6, guild_hdr_flags);
GUILD_LAYOUT(offsetof(guild_hdr, next) == 8, guild_hdr_next);

GUILD_LAYOUT(sizeof(guild_str) == 16, guild_str);
GUILD_LAYOUT(offsetof(guild_str, ptr) == 0, guild_str_ptr);
GUILD_LAYOUT(offsetof(guild_str, len) == 8, guild_str_len);

GUILD_LAYOUT(sizeof(guild_err) == 48, guild_err);
GUILD_LAYOUT(offsetof(guild_err, h) == 0, guild_err_h);
GUILD_LAYOUT(offsetof(guild_err, code) == 16, guild_err_code);
GUILD_LAYOUT(offsetof(guild_err, vendor_code) == 20, guild_err_vendor_code);
GUILD_LAYOUT(offsetof(guild_err, vendor_domain) == 24, guild_err_vendor_domain);
GUILD_LAYOUT(offsetof(guild_err, cap) == 28, guild_err_cap);
GUILD_LAYOUT(offsetof(guild_err, len) == 32, guild_err_len);
GUILD_LAYOUT(offsetof(guild_err, reserved) == 36, guild_err_reserved);
GUILD_LAYOUT(offsetof(guild_err, buf) == 40, guild_err_buf);

GUILD_LAYOUT(sizeof(guild_quant) == 72, guild_quant);
GUILD_LAYOUT(offsetof(guild_quant, size) == 0, guild_quant_size);
GUILD_LAYOUT(offsetof(guild_quant, format) == 4, guild_quant_format);
GUILD_LAYOUT(offsetof(guild_quant, block_elems) == 8, guild_quant_block_elems);
GUILD_LAYOUT(offsetof(guild_quant, block_bytes) == 12, guild_quant_block_bytes);
GUILD_LAYOUT(offsetof(guild_quant, axis) == 16, guild_quant_axis);
GUILD_LAYOUT(offsetof(guild_quant, layout) == 18, guild_quant_layout);
GUILD_LAYOUT(offsetof(guild_quant, group) == 20, guild_quant_group);
GUILD_LAYOUT(offsetof(guild_quant, scale) == 24, guild_quant_scale);
GUILD_LAYOUT(offsetof(guild_quant, zero) == 32, guild_quant_zero);
GUILD_LAYOUT(offsetof(guild_quant, scale_bytes) == 40, guild_quant_scale_bytes);
GUILD_LAYOUT(offsetof(guild_quant, zero_bytes) == 48, guild_quant_zero_bytes);
GUILD_LAYOUT(offsetof(guild_quant, reserved) == 56, guild_quant_reserved);

GUILD_LAYOUT(sizeof(guild_tensor) == 160, guild_tensor);
GUILD_LAYOUT(offsetof(guild_tensor, size) == 0, guild_tensor_size);
GUILD_LAYOUT(offsetof(guild_tensor, rank) == 4, guild_tensor_rank);
GUILD_LAYOUT(offsetof(guild_tensor, space) == 5, guild_tensor_space);
GUILD_LAYOUT(offsetof(guild_tensor, flags) == 6, guild_tensor_flags);
GUILD_LAYOUT(offsetof(guild_tensor, pad0) == 7, guild_tensor_pad0);
GUILD_LAYOUT(offsetof(guild_tensor, device) == 8, guild_tensor_device);
GUILD_LAYOUT(offsetof(guild_tensor, format) == 12, guild_tensor_format);
GUILD_LAYOUT(offsetof(guild_tensor, byte_len) == 16, guild_tensor_byte_len);
GUILD_LAYOUT(offsetof(guild_tensor, data) == 24, guild_tensor_data);
GUILD_LAYOUT(offsetof(guild_tensor, shape) == 32, guild_tensor_shape);
GUILD_LAYOUT(offsetof(guild_tensor, stride) == 80, guild_tensor_stride);
GUILD_LAYOUT(offsetof(guild_tensor, quant) == 128, guild_tensor_quant);
GUILD_LAYOUT(offsetof(guild_tensor, content_id) == 136, guild_tensor_content_id);
GUILD_LAYOUT(offsetof(guild_tensor, reserved) == 144, guild_tensor_reserved);

GUILD_LAYOUT(sizeof(guild_stream) == 24, guild_stream);
GUILD_LAYOUT(offsetof(guild_stream, size) == 0, guild_stream_size);
GUILD_LAYOUT(offsetof(guild_stream, kind) == 4, guild_stream_kind);
GUILD_LAYOUT(offsetof(guild_stream, native) == 8, guild_stream_native);
GUILD_LAYOUT(offsetof(guild_stream, device) == 16, guild_stream_device);
GUILD_LAYOUT(offsetof(guild_stream, capturing) == 20, guild_stream_capturing);

GUILD_LAYOUT(sizeof(guild_par) == 40, guild_par);
GUILD_LAYOUT(offsetof(guild_par, size) == 0, guild_par_size);
GUILD_LAYOUT(offsetof(guild_par, workers) == 4, guild_par_workers);
GUILD_LAYOUT(offsetof(guild_par, ctx) == 8, guild_par_ctx);
GUILD_LAYOUT(offsetof(guild_par, par_for) == 16, guild_par_par_for);
GUILD_LAYOUT(offsetof(guild_par, reserved) == 24, guild_par_reserved);

GUILD_LAYOUT(sizeof(guild_scratch_slot) == 32, guild_scratch_slot);
GUILD_LAYOUT(offsetof(guild_scratch_slot, size) == 0, guild_scratch_slot_size);
GUILD_LAYOUT(offsetof(guild_scratch_slot, space) == 4, guild_scratch_slot_space);
GUILD_LAYOUT(offsetof(guild_scratch_slot, lifetime) == 5, guild_scratch_slot_lifetime);
GUILD_LAYOUT(offsetof(guild_scratch_slot, pad) == 6, guild_scratch_slot_pad);
GUILD_LAYOUT(offsetof(guild_scratch_slot, bytes) == 8, guild_scratch_slot_bytes);
GUILD_LAYOUT(offsetof(guild_scratch_slot, align) == 16, guild_scratch_slot_align);
GUILD_LAYOUT(offsetof(guild_scratch_slot, reserved) == 24, guild_scratch_slot_reserved);

GUILD_LAYOUT(sizeof(guild_batch_seq) == 48, guild_batch_seq);
GUILD_LAYOUT(offsetof(guild_batch_seq, slot) == 0, guild_batch_seq_slot);
GUILD_LAYOUT(offsetof(guild_batch_seq, first_row) == 4, guild_batch_seq_first_row);
GUILD_LAYOUT(offsetof(guild_batch_seq, rows) == 8, guild_batch_seq_rows);
GUILD_LAYOUT(offsetof(guild_batch_seq, page_count) == 12, guild_batch_seq_page_count);
GUILD_LAYOUT(offsetof(guild_batch_seq, position) == 16, guild_batch_seq_position);
GUILD_LAYOUT(offsetof(guild_batch_seq, pages) == 24, guild_batch_seq_pages);
GUILD_LAYOUT(offsetof(guild_batch_seq, snapshot_slots) == 32, guild_batch_seq_snapshot_slots);
GUILD_LAYOUT(offsetof(guild_batch_seq, reserved) == 40, guild_batch_seq_reserved);

GUILD_LAYOUT(sizeof(guild_batch) == 64, guild_batch);
GUILD_LAYOUT(offsetof(guild_batch, size) == 0, guild_batch_size);
GUILD_LAYOUT(offsetof(guild_batch, seq_count) == 4, guild_batch_seq_count);
GUILD_LAYOUT(offsetof(guild_batch, seqs) == 8, guild_batch_seqs);
GUILD_LAYOUT(offsetof(guild_batch, seq_stride) == 16, guild_batch_seq_stride);
GUILD_LAYOUT(offsetof(guild_batch, rows) == 24, guild_batch_rows);
GUILD_LAYOUT(offsetof(guild_batch, outputs) == 32, guild_batch_outputs);
GUILD_LAYOUT(offsetof(guild_batch, token) == 40, guild_batch_token);
GUILD_LAYOUT(offsetof(guild_batch, reserved) == 48, guild_batch_reserved);

GUILD_LAYOUT(sizeof(guild_state) == 80, guild_state);
GUILD_LAYOUT(offsetof(guild_state, size) == 0, guild_state_size);
GUILD_LAYOUT(offsetof(guild_state, kind) == 4, guild_state_kind);
GUILD_LAYOUT(offsetof(guild_state, format) == 8, guild_state_format);
GUILD_LAYOUT(offsetof(guild_state, count) == 12, guild_state_count);
GUILD_LAYOUT(offsetof(guild_state, data) == 16, guild_state_data);
GUILD_LAYOUT(offsetof(guild_state, stride) == 24, guild_state_stride);
GUILD_LAYOUT(offsetof(guild_state, shape) == 32, guild_state_shape);
GUILD_LAYOUT(offsetof(guild_state, reserved) == 64, guild_state_reserved);

GUILD_LAYOUT(sizeof(guild_exec) == 128, guild_exec);
GUILD_LAYOUT(offsetof(guild_exec, size) == 0, guild_exec_size);
GUILD_LAYOUT(offsetof(guild_exec, flags) == 4, guild_exec_flags);
GUILD_LAYOUT(offsetof(guild_exec, n_in) == 8, guild_exec_n_in);
GUILD_LAYOUT(offsetof(guild_exec, n_out) == 12, guild_exec_n_out);
GUILD_LAYOUT(offsetof(guild_exec, inputs) == 16, guild_exec_inputs);
GUILD_LAYOUT(offsetof(guild_exec, outputs) == 24, guild_exec_outputs);
GUILD_LAYOUT(offsetof(guild_exec, n_state) == 32, guild_exec_n_state);
GUILD_LAYOUT(offsetof(guild_exec, n_scratch) == 36, guild_exec_n_scratch);
GUILD_LAYOUT(offsetof(guild_exec, states) == 40, guild_exec_states);
GUILD_LAYOUT(offsetof(guild_exec, scratch) == 48, guild_exec_scratch);
GUILD_LAYOUT(offsetof(guild_exec, params) == 56, guild_exec_params);
GUILD_LAYOUT(offsetof(guild_exec, params_size) == 64, guild_exec_params_size);
GUILD_LAYOUT(offsetof(guild_exec, rows) == 72, guild_exec_rows);
GUILD_LAYOUT(offsetof(guild_exec, batch) == 80, guild_exec_batch);
GUILD_LAYOUT(offsetof(guild_exec, stream) == 88, guild_exec_stream);
GUILD_LAYOUT(offsetof(guild_exec, par) == 96, guild_exec_par);
GUILD_LAYOUT(offsetof(guild_exec, err) == 104, guild_exec_err);
GUILD_LAYOUT(offsetof(guild_exec, reserved) == 112, guild_exec_reserved);

GUILD_LAYOUT(sizeof(guild_bounds) == 80, guild_bounds);
GUILD_LAYOUT(offsetof(guild_bounds, h) == 0, guild_bounds_h);
GUILD_LAYOUT(offsetof(guild_bounds, max_rows) == 16, guild_bounds_max_rows);
GUILD_LAYOUT(offsetof(guild_bounds, max_outputs) == 24, guild_bounds_max_outputs);
GUILD_LAYOUT(offsetof(guild_bounds, max_sequences) == 32, guild_bounds_max_sequences);
GUILD_LAYOUT(offsetof(guild_bounds, max_positions) == 40, guild_bounds_max_positions);
GUILD_LAYOUT(offsetof(guild_bounds, workers) == 48, guild_bounds_workers);
GUILD_LAYOUT(offsetof(guild_bounds, reserved0) == 52, guild_bounds_reserved0);
GUILD_LAYOUT(offsetof(guild_bounds, reserved) == 56, guild_bounds_reserved);

GUILD_LAYOUT(sizeof(guild_op_desc) == 176, guild_op_desc);
GUILD_LAYOUT(offsetof(guild_op_desc, h) == 0, guild_op_desc_h);
GUILD_LAYOUT(offsetof(guild_op_desc, name) == 16, guild_op_desc_name);
GUILD_LAYOUT(offsetof(guild_op_desc, implementation) == 32, guild_op_desc_implementation);
GUILD_LAYOUT(offsetof(guild_op_desc, op_min) == 48, guild_op_desc_op_min);
GUILD_LAYOUT(offsetof(guild_op_desc, op_max) == 52, guild_op_desc_op_max);
GUILD_LAYOUT(offsetof(guild_op_desc, contract) == 56, guild_op_desc_contract);
GUILD_LAYOUT(offsetof(guild_op_desc, caps) == 88, guild_op_desc_caps);
GUILD_LAYOUT(offsetof(guild_op_desc, phases) == 104, guild_op_desc_phases);
GUILD_LAYOUT(offsetof(guild_op_desc, exactness) == 108, guild_op_desc_exactness);
GUILD_LAYOUT(offsetof(guild_op_desc, rank) == 112, guild_op_desc_rank);
GUILD_LAYOUT(offsetof(guild_op_desc, n_formats) == 116, guild_op_desc_n_formats);
GUILD_LAYOUT(offsetof(guild_op_desc, formats) == 120, guild_op_desc_formats);
GUILD_LAYOUT(offsetof(guild_op_desc, replaces) == 128, guild_op_desc_replaces);
GUILD_LAYOUT(offsetof(guild_op_desc, reserved) == 144, guild_op_desc_reserved);

GUILD_LAYOUT(sizeof(guild_op_req) == 128, guild_op_req);
GUILD_LAYOUT(offsetof(guild_op_req, h) == 0, guild_op_req_h);
GUILD_LAYOUT(offsetof(guild_op_req, name) == 16, guild_op_req_name);
GUILD_LAYOUT(offsetof(guild_op_req, version) == 32, guild_op_req_version);
GUILD_LAYOUT(offsetof(guild_op_req, phase) == 36, guild_op_req_phase);
GUILD_LAYOUT(offsetof(guild_op_req, params) == 40, guild_op_req_params);
GUILD_LAYOUT(offsetof(guild_op_req, params_size) == 48, guild_op_req_params_size);
GUILD_LAYOUT(offsetof(guild_op_req, n_in) == 56, guild_op_req_n_in);
GUILD_LAYOUT(offsetof(guild_op_req, n_out) == 60, guild_op_req_n_out);
GUILD_LAYOUT(offsetof(guild_op_req, n_state) == 64, guild_op_req_n_state);
GUILD_LAYOUT(offsetof(guild_op_req, classes) == 68, guild_op_req_classes);
GUILD_LAYOUT(offsetof(guild_op_req, inputs) == 72, guild_op_req_inputs);
GUILD_LAYOUT(offsetof(guild_op_req, outputs) == 80, guild_op_req_outputs);
GUILD_LAYOUT(offsetof(guild_op_req, states) == 88, guild_op_req_states);
GUILD_LAYOUT(offsetof(guild_op_req, bounds) == 96, guild_op_req_bounds);
GUILD_LAYOUT(offsetof(guild_op_req, device) == 104, guild_op_req_device);
GUILD_LAYOUT(offsetof(guild_op_req, reserved0) == 108, guild_op_req_reserved0);
GUILD_LAYOUT(offsetof(guild_op_req, reserved) == 112, guild_op_req_reserved);

GUILD_LAYOUT(sizeof(guild_refusal) == 72, guild_refusal);
GUILD_LAYOUT(offsetof(guild_refusal, h) == 0, guild_refusal_h);
GUILD_LAYOUT(offsetof(guild_refusal, reason) == 16, guild_refusal_reason);
GUILD_LAYOUT(offsetof(guild_refusal, index) == 20, guild_refusal_index);
GUILD_LAYOUT(offsetof(guild_refusal, wanted) == 24, guild_refusal_wanted);
GUILD_LAYOUT(offsetof(guild_refusal, offered) == 32, guild_refusal_offered);
GUILD_LAYOUT(offsetof(guild_refusal, cap) == 40, guild_refusal_cap);
GUILD_LAYOUT(offsetof(guild_refusal, len) == 44, guild_refusal_len);
GUILD_LAYOUT(offsetof(guild_refusal, buf) == 48, guild_refusal_buf);
GUILD_LAYOUT(offsetof(guild_refusal, reserved) == 56, guild_refusal_reserved);

GUILD_LAYOUT(sizeof(guild_host_v1) == 144, guild_host_v1);
GUILD_LAYOUT(offsetof(guild_host_v1, h) == 0, guild_host_v1_h);
GUILD_LAYOUT(offsetof(guild_host_v1, abi_minor) == 16, guild_host_v1_abi_minor);
GUILD_LAYOUT(offsetof(guild_host_v1, abi_minor_floor) == 20, guild_host_v1_abi_minor_floor);
GUILD_LAYOUT(offsetof(guild_host_v1, caps) == 24, guild_host_v1_caps);
GUILD_LAYOUT(offsetof(guild_host_v1, ctx) == 40, guild_host_v1_ctx);
GUILD_LAYOUT(offsetof(guild_host_v1, log) == 48, guild_host_v1_log);
GUILD_LAYOUT(offsetof(guild_host_v1, alloc) == 56, guild_host_v1_alloc);
GUILD_LAYOUT(offsetof(guild_host_v1, free) == 64, guild_host_v1_free);
GUILD_LAYOUT(offsetof(guild_host_v1, get_extension) == 72, guild_host_v1_get_extension);
GUILD_LAYOUT(offsetof(guild_host_v1, reserved) == 80, guild_host_v1_reserved);

GUILD_LAYOUT(sizeof(guild_plugin_v1) == 272, guild_plugin_v1);
GUILD_LAYOUT(offsetof(guild_plugin_v1, h) == 0, guild_plugin_v1_h);
GUILD_LAYOUT(offsetof(guild_plugin_v1, abi_minor_built) == 16, guild_plugin_v1_abi_minor_built);
GUILD_LAYOUT(offsetof(guild_plugin_v1, abi_minor_min) == 20, guild_plugin_v1_abi_minor_min);
GUILD_LAYOUT(offsetof(guild_plugin_v1, caps) == 24, guild_plugin_v1_caps);
GUILD_LAYOUT(offsetof(guild_plugin_v1, id) == 40, guild_plugin_v1_id);
GUILD_LAYOUT(offsetof(guild_plugin_v1, version) == 56, guild_plugin_v1_version);
GUILD_LAYOUT(offsetof(guild_plugin_v1, build_id) == 72, guild_plugin_v1_build_id);
GUILD_LAYOUT(offsetof(guild_plugin_v1, self_) == 104, guild_plugin_v1_self_);
GUILD_LAYOUT(offsetof(guild_plugin_v1, op_count) == 112, guild_plugin_v1_op_count);
GUILD_LAYOUT(offsetof(guild_plugin_v1, reserved0) == 116, guild_plugin_v1_reserved0);
GUILD_LAYOUT(offsetof(guild_plugin_v1, init) == 120, guild_plugin_v1_init);
GUILD_LAYOUT(offsetof(guild_plugin_v1, describe) == 128, guild_plugin_v1_describe);
GUILD_LAYOUT(offsetof(guild_plugin_v1, supports) == 136, guild_plugin_v1_supports);
GUILD_LAYOUT(offsetof(guild_plugin_v1, create) == 144, guild_plugin_v1_create);
GUILD_LAYOUT(offsetof(guild_plugin_v1, scratch) == 152, guild_plugin_v1_scratch);
GUILD_LAYOUT(offsetof(guild_plugin_v1, prepack) == 160, guild_plugin_v1_prepack);
GUILD_LAYOUT(offsetof(guild_plugin_v1, prepare) == 168, guild_plugin_v1_prepare);
GUILD_LAYOUT(offsetof(guild_plugin_v1, destroy) == 176, guild_plugin_v1_destroy);
GUILD_LAYOUT(offsetof(guild_plugin_v1, get_extension) == 184, guild_plugin_v1_get_extension);
GUILD_LAYOUT(offsetof(guild_plugin_v1, quiesce) == 192, guild_plugin_v1_quiesce);
GUILD_LAYOUT(offsetof(guild_plugin_v1, shutdown) == 200, guild_plugin_v1_shutdown);
GUILD_LAYOUT(offsetof(guild_plugin_v1, reserved) == 208, guild_plugin_v1_reserved);

GUILD_LAYOUT(sizeof(guild_formats_v1) == 64, guild_formats_v1);
GUILD_LAYOUT(offsetof(guild_formats_v1, h) == 0, guild_formats_v1_h);
GUILD_LAYOUT(offsetof(guild_formats_v1, ctx) == 16, guild_formats_v1_ctx);
GUILD_LAYOUT(offsetof(guild_formats_v1, number) == 24, guild_formats_v1_number);
GUILD_LAYOUT(offsetof(guild_formats_v1, describe) == 32, guild_formats_v1_describe);
GUILD_LAYOUT(offsetof(guild_formats_v1, reserved) == 40, guild_formats_v1_reserved);

GUILD_LAYOUT(sizeof(guild_norm_params) == 16, guild_norm_params);
GUILD_LAYOUT(offsetof(guild_norm_params, size) == 0, guild_norm_params_size);
GUILD_LAYOUT(offsetof(guild_norm_params, epsilon) == 4, guild_norm_params_epsilon);
GUILD_LAYOUT(offsetof(guild_norm_params, scale) == 8, guild_norm_params_scale);
GUILD_LAYOUT(offsetof(guild_norm_params, reserved) == 12, guild_norm_params_reserved);

GUILD_LAYOUT(sizeof(guild_rope_params) == 48, guild_rope_params);
GUILD_LAYOUT(offsetof(guild_rope_params, size) == 0, guild_rope_params_size);
GUILD_LAYOUT(offsetof(guild_rope_params, pairing) == 4, guild_rope_params_pairing);
GUILD_LAYOUT(offsetof(guild_rope_params, rotary_dims) == 8, guild_rope_params_rotary_dims);
GUILD_LAYOUT(offsetof(guild_rope_params, interleaved) == 12, guild_rope_params_interleaved);
GUILD_LAYOUT(offsetof(guild_rope_params, theta) == 16, guild_rope_params_theta);
GUILD_LAYOUT(offsetof(guild_rope_params, sections) == 24, guild_rope_params_sections);
GUILD_LAYOUT(offsetof(guild_rope_params, reserved) == 40, guild_rope_params_reserved);

GUILD_LAYOUT(sizeof(guild_attention_params) == 16, guild_attention_params);
GUILD_LAYOUT(offsetof(guild_attention_params, size) == 0, guild_attention_params_size);
GUILD_LAYOUT(offsetof(guild_attention_params, scale) == 4, guild_attention_params_scale);
GUILD_LAYOUT(offsetof(guild_attention_params, reserved) == 8, guild_attention_params_reserved);

GUILD_LAYOUT(sizeof(guild_conv_params) == 16, guild_conv_params);
GUILD_LAYOUT(offsetof(guild_conv_params, size) == 0, guild_conv_params_size);
GUILD_LAYOUT(offsetof(guild_conv_params, activation) == 4, guild_conv_params_activation);
GUILD_LAYOUT(offsetof(guild_conv_params, reserved) == 8, guild_conv_params_reserved);

GUILD_LAYOUT(sizeof(guild_delta_params) == 16, guild_delta_params);
GUILD_LAYOUT(offsetof(guild_delta_params, size) == 0, guild_delta_params_size);
GUILD_LAYOUT(offsetof(guild_delta_params, head_order) == 4, guild_delta_params_head_order);
GUILD_LAYOUT(offsetof(guild_delta_params, reserved) == 8, guild_delta_params_reserved);

GUILD_LAYOUT(sizeof(guild_route_params) == 16, guild_route_params);
GUILD_LAYOUT(offsetof(guild_route_params, size) == 0, guild_route_params_size);
GUILD_LAYOUT(offsetof(guild_route_params, top_k) == 4, guild_route_params_top_k);
GUILD_LAYOUT(offsetof(guild_route_params, flags) == 8, guild_route_params_flags);
GUILD_LAYOUT(offsetof(guild_route_params, reserved) == 12, guild_route_params_reserved);

GUILD_LAYOUT(sizeof(guild_experts_params) == 16, guild_experts_params);
GUILD_LAYOUT(offsetof(guild_experts_params, size) == 0, guild_experts_params_size);
GUILD_LAYOUT(offsetof(guild_experts_params, flags) == 4, guild_experts_params_flags);
GUILD_LAYOUT(offsetof(guild_experts_params, reserved) == 8, guild_experts_params_reserved);

GUILD_LAYOUT(sizeof(guild_tensor_info) == 88, guild_tensor_info);
GUILD_LAYOUT(offsetof(guild_tensor_info, size) == 0, guild_tensor_info_size);
GUILD_LAYOUT(offsetof(guild_tensor_info, format) == 4, guild_tensor_info_format);
GUILD_LAYOUT(offsetof(guild_tensor_info, rank) == 8, guild_tensor_info_rank);
GUILD_LAYOUT(offsetof(guild_tensor_info, reserved) == 12, guild_tensor_info_reserved);
GUILD_LAYOUT(offsetof(guild_tensor_info, shape) == 16, guild_tensor_info_shape);
GUILD_LAYOUT(offsetof(guild_tensor_info, byte_len) == 64, guild_tensor_info_byte_len);
GUILD_LAYOUT(offsetof(guild_tensor_info, name) == 72, guild_tensor_info_name);

GUILD_LAYOUT(sizeof(guild_model_v1) == 96, guild_model_v1);
GUILD_LAYOUT(offsetof(guild_model_v1, h) == 0, guild_model_v1_h);
GUILD_LAYOUT(offsetof(guild_model_v1, ctx) == 16, guild_model_v1_ctx);
GUILD_LAYOUT(offsetof(guild_model_v1, architecture) == 24, guild_model_v1_architecture);
GUILD_LAYOUT(offsetof(guild_model_v1, tensor_count) == 40, guild_model_v1_tensor_count);
GUILD_LAYOUT(offsetof(guild_model_v1, length) == 48, guild_model_v1_length);
GUILD_LAYOUT(offsetof(guild_model_v1, get_u64) == 56, guild_model_v1_get_u64);
GUILD_LAYOUT(offsetof(guild_model_v1, get_f64) == 64, guild_model_v1_get_f64);
GUILD_LAYOUT(offsetof(guild_model_v1, get_str) == 72, guild_model_v1_get_str);
GUILD_LAYOUT(offsetof(guild_model_v1, tensor) == 80, guild_model_v1_tensor);
GUILD_LAYOUT(offsetof(guild_model_v1, tensor_at) == 88, guild_model_v1_tensor_at);

GUILD_LAYOUT(sizeof(guild_value_desc) == 64, guild_value_desc);
GUILD_LAYOUT(offsetof(guild_value_desc, size) == 0, guild_value_desc_size);
GUILD_LAYOUT(offsetof(guild_value_desc, format) == 4, guild_value_desc_format);
GUILD_LAYOUT(offsetof(guild_value_desc, rank) == 8, guild_value_desc_rank);
GUILD_LAYOUT(offsetof(guild_value_desc, reserved) == 12, guild_value_desc_reserved);
GUILD_LAYOUT(offsetof(guild_value_desc, shape) == 16, guild_value_desc_shape);

GUILD_LAYOUT(sizeof(guild_section_desc) == 48, guild_section_desc);
GUILD_LAYOUT(offsetof(guild_section_desc, h) == 0, guild_section_desc_h);
GUILD_LAYOUT(offsetof(guild_section_desc, kind) == 16, guild_section_desc_kind);
GUILD_LAYOUT(offsetof(guild_section_desc, reserved0) == 20, guild_section_desc_reserved0);
GUILD_LAYOUT(offsetof(guild_section_desc, name) == 24, guild_section_desc_name);
GUILD_LAYOUT(offsetof(guild_section_desc, reserved) == 40, guild_section_desc_reserved);

GUILD_LAYOUT(sizeof(guild_state_desc) == 80, guild_state_desc);
GUILD_LAYOUT(offsetof(guild_state_desc, h) == 0, guild_state_desc_h);
GUILD_LAYOUT(offsetof(guild_state_desc, kind) == 16, guild_state_desc_kind);
GUILD_LAYOUT(offsetof(guild_state_desc, format) == 20, guild_state_desc_format);
GUILD_LAYOUT(offsetof(guild_state_desc, rank) == 24, guild_state_desc_rank);
GUILD_LAYOUT(offsetof(guild_state_desc, reserved) == 28, guild_state_desc_reserved);
GUILD_LAYOUT(offsetof(guild_state_desc, shape) == 32, guild_state_desc_shape);
GUILD_LAYOUT(offsetof(guild_state_desc, name) == 64, guild_state_desc_name);

GUILD_LAYOUT(sizeof(guild_view_desc) == 160, guild_view_desc);
GUILD_LAYOUT(offsetof(guild_view_desc, h) == 0, guild_view_desc_h);
GUILD_LAYOUT(offsetof(guild_view_desc, source) == 16, guild_view_desc_source);
GUILD_LAYOUT(offsetof(guild_view_desc, rank) == 20, guild_view_desc_rank);
GUILD_LAYOUT(offsetof(guild_view_desc, offset) == 24, guild_view_desc_offset);
GUILD_LAYOUT(offsetof(guild_view_desc, shape) == 32, guild_view_desc_shape);
GUILD_LAYOUT(offsetof(guild_view_desc, stride) == 80, guild_view_desc_stride);
GUILD_LAYOUT(offsetof(guild_view_desc, reserved) == 128, guild_view_desc_reserved);

GUILD_LAYOUT(sizeof(guild_node_desc) == 112, guild_node_desc);
GUILD_LAYOUT(offsetof(guild_node_desc, h) == 0, guild_node_desc_h);
GUILD_LAYOUT(offsetof(guild_node_desc, op) == 16, guild_node_desc_op);
GUILD_LAYOUT(offsetof(guild_node_desc, name) == 32, guild_node_desc_name);
GUILD_LAYOUT(offsetof(guild_node_desc, params) == 48, guild_node_desc_params);
GUILD_LAYOUT(offsetof(guild_node_desc, params_size) == 56, guild_node_desc_params_size);
GUILD_LAYOUT(offsetof(guild_node_desc, inputs) == 64, guild_node_desc_inputs);
GUILD_LAYOUT(offsetof(guild_node_desc, states) == 72, guild_node_desc_states);
GUILD_LAYOUT(offsetof(guild_node_desc, outputs) == 80, guild_node_desc_outputs);
GUILD_LAYOUT(offsetof(guild_node_desc, n_in) == 88, guild_node_desc_n_in);
GUILD_LAYOUT(offsetof(guild_node_desc, n_state) == 92, guild_node_desc_n_state);
GUILD_LAYOUT(offsetof(guild_node_desc, n_out) == 96, guild_node_desc_n_out);
GUILD_LAYOUT(offsetof(guild_node_desc, layer) == 100, guild_node_desc_layer);
GUILD_LAYOUT(offsetof(guild_node_desc, output_stride) == 104, guild_node_desc_output_stride);

GUILD_LAYOUT(sizeof(guild_builder_v1) == 96, guild_builder_v1);
GUILD_LAYOUT(offsetof(guild_builder_v1, h) == 0, guild_builder_v1_h);
GUILD_LAYOUT(offsetof(guild_builder_v1, ctx) == 16, guild_builder_v1_ctx);
GUILD_LAYOUT(offsetof(guild_builder_v1, section) == 24, guild_builder_v1_section);
GUILD_LAYOUT(offsetof(guild_builder_v1, weight) == 32, guild_builder_v1_weight);
GUILD_LAYOUT(offsetof(guild_builder_v1, input) == 40, guild_builder_v1_input);
GUILD_LAYOUT(offsetof(guild_builder_v1, state) == 48, guild_builder_v1_state);
GUILD_LAYOUT(offsetof(guild_builder_v1, view) == 56, guild_builder_v1_view);
GUILD_LAYOUT(offsetof(guild_builder_v1, op) == 64, guild_builder_v1_op);
GUILD_LAYOUT(offsetof(guild_builder_v1, output) == 72, guild_builder_v1_output);
GUILD_LAYOUT(offsetof(guild_builder_v1, reserved) == 80, guild_builder_v1_reserved);

GUILD_LAYOUT(sizeof(guild_runner_desc) == 72, guild_runner_desc);
GUILD_LAYOUT(offsetof(guild_runner_desc, h) == 0, guild_runner_desc_h);
GUILD_LAYOUT(offsetof(guild_runner_desc, id) == 16, guild_runner_desc_id);
GUILD_LAYOUT(offsetof(guild_runner_desc, architectures) == 32, guild_runner_desc_architectures);
GUILD_LAYOUT(offsetof(guild_runner_desc, reserved) == 48, guild_runner_desc_reserved);

GUILD_LAYOUT(sizeof(guild_describe_params) == 48, guild_describe_params);
GUILD_LAYOUT(offsetof(guild_describe_params, h) == 0, guild_describe_params_h);
GUILD_LAYOUT(offsetof(guild_describe_params, context) == 16, guild_describe_params_context);
GUILD_LAYOUT(offsetof(guild_describe_params, reserved) == 24, guild_describe_params_reserved);

GUILD_LAYOUT(sizeof(guild_runner_v1) == 72, guild_runner_v1);
GUILD_LAYOUT(offsetof(guild_runner_v1, h) == 0, guild_runner_v1_h);
GUILD_LAYOUT(offsetof(guild_runner_v1, runner_count) == 16, guild_runner_v1_runner_count);
GUILD_LAYOUT(offsetof(guild_runner_v1, reserved0) == 20, guild_runner_v1_reserved0);
GUILD_LAYOUT(offsetof(guild_runner_v1, info) == 24, guild_runner_v1_info);
GUILD_LAYOUT(offsetof(guild_runner_v1, matches) == 32, guild_runner_v1_matches);
GUILD_LAYOUT(offsetof(guild_runner_v1, describe) == 40, guild_runner_v1_describe);
GUILD_LAYOUT(offsetof(guild_runner_v1, reserved) == 48, guild_runner_v1_reserved);

GUILD_LAYOUT(sizeof(guild_binding) == 40, guild_binding);
GUILD_LAYOUT(offsetof(guild_binding, size) == 0, guild_binding_size);
GUILD_LAYOUT(offsetof(guild_binding, flags) == 4, guild_binding_flags);
GUILD_LAYOUT(offsetof(guild_binding, execute) == 8, guild_binding_execute);
GUILD_LAYOUT(offsetof(guild_binding, inst) == 16, guild_binding_inst);
GUILD_LAYOUT(offsetof(guild_binding, lease) == 24, guild_binding_lease);
GUILD_LAYOUT(offsetof(guild_binding, op_version) == 32, guild_binding_op_version);
GUILD_LAYOUT(offsetof(guild_binding, reserved) == 36, guild_binding_reserved);

GUILD_LAYOUT(sizeof(guild_ops_v1) == 88, guild_ops_v1);
GUILD_LAYOUT(offsetof(guild_ops_v1, h) == 0, guild_ops_v1_h);
GUILD_LAYOUT(offsetof(guild_ops_v1, ctx) == 16, guild_ops_v1_ctx);
GUILD_LAYOUT(offsetof(guild_ops_v1, resolve) == 24, guild_ops_v1_resolve);
GUILD_LAYOUT(offsetof(guild_ops_v1, scratch) == 32, guild_ops_v1_scratch);
GUILD_LAYOUT(offsetof(guild_ops_v1, execute) == 40, guild_ops_v1_execute);
GUILD_LAYOUT(offsetof(guild_ops_v1, release) == 48, guild_ops_v1_release);
GUILD_LAYOUT(offsetof(guild_ops_v1, reserved) == 56, guild_ops_v1_reserved);

GUILD_LAYOUT(sizeof(guild_device_desc) == 112, guild_device_desc);
GUILD_LAYOUT(offsetof(guild_device_desc, h) == 0, guild_device_desc_h);
GUILD_LAYOUT(offsetof(guild_device_desc, name) == 16, guild_device_desc_name);
GUILD_LAYOUT(offsetof(guild_device_desc, arch_major) == 32, guild_device_desc_arch_major);
GUILD_LAYOUT(offsetof(guild_device_desc, arch_minor) == 36, guild_device_desc_arch_minor);
GUILD_LAYOUT(offsetof(guild_device_desc, units) == 40, guild_device_desc_units);
GUILD_LAYOUT(offsetof(guild_device_desc, bus_bits) == 44, guild_device_desc_bus_bits);
GUILD_LAYOUT(offsetof(guild_device_desc, memory_bytes) == 48, guild_device_desc_memory_bytes);
GUILD_LAYOUT(offsetof(guild_device_desc, free_bytes) == 56, guild_device_desc_free_bytes);
GUILD_LAYOUT(offsetof(guild_device_desc, l2_bytes) == 64, guild_device_desc_l2_bytes);
GUILD_LAYOUT(offsetof(guild_device_desc, driver_version) == 72, guild_device_desc_driver_version);
GUILD_LAYOUT(offsetof(guild_device_desc, runtime_version) == 76, guild_device_desc_runtime_version);
GUILD_LAYOUT(offsetof(guild_device_desc, reserved) == 80, guild_device_desc_reserved);

GUILD_LAYOUT(sizeof(guild_launch) == 32, guild_launch);
GUILD_LAYOUT(offsetof(guild_launch, size) == 0, guild_launch_size);
GUILD_LAYOUT(offsetof(guild_launch, shared_bytes) == 4, guild_launch_shared_bytes);
GUILD_LAYOUT(offsetof(guild_launch, grid) == 8, guild_launch_grid);
GUILD_LAYOUT(offsetof(guild_launch, block) == 20, guild_launch_block);

GUILD_LAYOUT(sizeof(guild_device_v1) == 200, guild_device_v1);
GUILD_LAYOUT(offsetof(guild_device_v1, h) == 0, guild_device_v1_h);
GUILD_LAYOUT(offsetof(guild_device_v1, count) == 16, guild_device_v1_count);
GUILD_LAYOUT(offsetof(guild_device_v1, info) == 24, guild_device_v1_info);
GUILD_LAYOUT(offsetof(guild_device_v1, alloc) == 32, guild_device_v1_alloc);
GUILD_LAYOUT(offsetof(guild_device_v1, free) == 40, guild_device_v1_free);
GUILD_LAYOUT(offsetof(guild_device_v1, stream_create) == 48, guild_device_v1_stream_create);
GUILD_LAYOUT(offsetof(guild_device_v1, stream_destroy) == 56, guild_device_v1_stream_destroy);
GUILD_LAYOUT(offsetof(guild_device_v1, stream_wait) == 64, guild_device_v1_stream_wait);
GUILD_LAYOUT(offsetof(guild_device_v1, copy) == 72, guild_device_v1_copy);
GUILD_LAYOUT(offsetof(guild_device_v1, event_create) == 80, guild_device_v1_event_create);
GUILD_LAYOUT(offsetof(guild_device_v1, event_record) == 88, guild_device_v1_event_record);
GUILD_LAYOUT(offsetof(guild_device_v1, event_wait) == 96, guild_device_v1_event_wait);
GUILD_LAYOUT(offsetof(guild_device_v1, event_destroy) == 104, guild_device_v1_event_destroy);
GUILD_LAYOUT(offsetof(guild_device_v1, capture_begin) == 112, guild_device_v1_capture_begin);
GUILD_LAYOUT(offsetof(guild_device_v1, capture_end) == 120, guild_device_v1_capture_end);
GUILD_LAYOUT(offsetof(guild_device_v1, graph_launch) == 128, guild_device_v1_graph_launch);
GUILD_LAYOUT(offsetof(guild_device_v1, graph_destroy) == 136, guild_device_v1_graph_destroy);
GUILD_LAYOUT(offsetof(guild_device_v1, module_load) == 144, guild_device_v1_module_load);
GUILD_LAYOUT(offsetof(guild_device_v1, module_function) == 152, guild_device_v1_module_function);
GUILD_LAYOUT(offsetof(guild_device_v1, launch) == 160, guild_device_v1_launch);
GUILD_LAYOUT(offsetof(guild_device_v1, module_unload) == 168, guild_device_v1_module_unload);
GUILD_LAYOUT(offsetof(guild_device_v1, reserved) == 176, guild_device_v1_reserved);

GUILD_LAYOUT(sizeof(guild_counter) == 24, guild_counter);
GUILD_LAYOUT(offsetof(guild_counter, size) == 0, guild_counter_size);
GUILD_LAYOUT(offsetof(guild_counter, reserved) == 4, guild_counter_reserved);
GUILD_LAYOUT(offsetof(guild_counter, calls) == 8, guild_counter_calls);
GUILD_LAYOUT(offsetof(guild_counter, rows) == 16, guild_counter_rows);

GUILD_LAYOUT(sizeof(guild_counters_v1) == 48, guild_counters_v1);
GUILD_LAYOUT(offsetof(guild_counters_v1, h) == 0, guild_counters_v1_h);
GUILD_LAYOUT(offsetof(guild_counters_v1, operation) == 16, guild_counters_v1_operation);
GUILD_LAYOUT(offsetof(guild_counters_v1, runner) == 24, guild_counters_v1_runner);
GUILD_LAYOUT(offsetof(guild_counters_v1, reserved) == 32, guild_counters_v1_reserved);

#undef GUILD_LAYOUT

#endif /* GUILD_LAYOUT_H */
