//! The C side of `guild.runner/1`: a made-up host drives a plugin's runners through their table.
#![allow(unsafe_code)]

use guild_sdk::abi::abi::*;
use guild_sdk::abi::core_ops::guild_norm_params;
use guild_sdk::abi::counters::{guild_counter, guild_counters_v1};
use guild_sdk::abi::formats::GUILD_FORMAT_F32;
use guild_sdk::abi::runner::*;
use guild_sdk::abi::text::ErrorText;
use guild_sdk::runner::{Builder, DescribeParams, Input, Model, Output, Section};
use guild_sdk::{Failure, Plugin, PluginSource, Runner};
use std::ffi::c_void;

/// Reads `test.fault` and fails as it says.
struct TestRunner;

impl Runner for TestRunner {
    fn id(&self) -> &'static str {
        "org.example.runner.test.v1"
    }

    fn architectures(&self) -> &'static [&'static str] {
        &["first", "second"]
    }

    fn matches(&self, model: &Model<'_>) -> Option<i32> {
        (model.architecture() == "second").then_some(7)
    }

    fn describe(
        &self,
        model: &Model<'_>,
        params: &DescribeParams,
        builder: &mut Builder<'_>,
    ) -> Result<(), Failure> {
        assert_eq!(model.unsigned("test.panic").unwrap_or(0), 0, "asked to");
        assert_eq!(params.context, 77);
        builder.section(Section::Main, "main")?;
        let tokens = builder.input(Input::Tokens)?;
        let table = builder.weight("table")?;
        builder.at_layer(3);
        let x = builder.embedding("embedding", table, tokens)?;
        let norm = builder.weight("norm")?;
        let y = builder.rms_norm("norm", x, norm, 0.5)?;
        builder.output(Output::Hidden, y)
    }
}

struct Test;

impl PluginSource for Test {
    const PLUGIN: &'static Plugin = &Plugin {
        id: "org.example.test",
        version: "1.0.0",
        build_id: [0; 32],
        kernel_count: 0,
        kernels: |_| Ok(Vec::new()),
        runners: &[&TestRunner],
    };
}

/// What the made-up host was asked, one line a call, and how it answers.
#[derive(Default)]
struct Host {
    calls: Vec<String>,
    values: u32,
    panic: bool,
    refuse_ops: bool,
}

impl Host {
    fn value(&mut self, call: String) -> u32 {
        self.calls.push(call);
        self.values += 1;
        self.values - 1
    }
}

/// # Safety
/// `ctx` is the `Host` of this call and nothing else uses it meanwhile.
unsafe fn host<'a>(ctx: *mut c_void) -> &'a mut Host {
    // SAFETY: the caller's promise.
    unsafe { &mut *ctx.cast::<Host>() }
}

/// # Safety
/// `text` is valid.
unsafe fn owned(text: guild_str) -> String {
    // SAFETY: the caller's promise.
    unsafe { text.as_str() }.unwrap().to_owned()
}

unsafe extern "C" fn length(_: *mut c_void, _: guild_str, _: *mut u64) -> guild_status {
    GUILD_STATUS_ERR_NOT_FOUND
}

unsafe extern "C" fn get_u64(
    ctx: *mut c_void,
    key: guild_str,
    _: u64,
    out: *mut u64,
) -> guild_status {
    // SAFETY: the SDK passes the context, live text and a place for the number.
    unsafe {
        assert_eq!(owned(key), "test.panic");
        *out = u64::from(host(ctx).panic);
    }
    GUILD_STATUS_OK
}

unsafe extern "C" fn tensor(
    _: *mut c_void,
    name: guild_str,
    out: *mut guild_tensor_info,
) -> guild_status {
    // SAFETY: the SDK passes live text and a whole struct.
    let (name, out) = unsafe { (owned(name), &mut *out) };
    assert_eq!(out.size as usize, size_of::<guild_tensor_info>());
    out.format = GUILD_FORMAT_F32;
    match name.as_str() {
        "table" => (out.rank, out.shape) = (2, [10, 4, 0, 0, 0, 0]),
        _ => (out.rank, out.shape) = (1, [4, 0, 0, 0, 0, 0]),
    }
    GUILD_STATUS_OK
}

unsafe extern "C" fn section(
    ctx: *mut c_void,
    desc: *const guild_section_desc,
    _: *mut guild_err,
) -> guild_status {
    // SAFETY: the SDK passes the context and a whole record.
    unsafe {
        host(ctx)
            .calls
            .push(format!("section {} {}", (*desc).kind, owned((*desc).name)))
    };
    GUILD_STATUS_OK
}

unsafe extern "C" fn weight(
    ctx: *mut c_void,
    name: guild_str,
    value: *mut u32,
    _: *mut guild_err,
) -> guild_status {
    // SAFETY: the SDK passes the context, live text and a place for the number.
    unsafe { *value = host(ctx).value(format!("weight {}", owned(name))) };
    GUILD_STATUS_OK
}

unsafe extern "C" fn input(
    ctx: *mut c_void,
    kind: u32,
    _: u64,
    value: *mut u32,
    _: *mut guild_err,
) -> guild_status {
    // SAFETY: the SDK passes the context and a place for the number.
    unsafe { *value = host(ctx).value(format!("input {kind}")) };
    GUILD_STATUS_OK
}

unsafe extern "C" fn op(
    ctx: *mut c_void,
    desc: *const guild_node_desc,
    values: *mut u32,
    err: *mut guild_err,
) -> guild_status {
    // SAFETY: the SDK passes the context, a whole record with its arrays, and room for its outputs.
    unsafe {
        let desc = &*desc;
        if host(ctx).refuse_ops {
            let text = format_args!("no room for {}", owned(desc.name));
            guild_sdk::abi::text::write_error(err, GUILD_STATUS_ERR_INVALID, text);
            return GUILD_STATUS_ERR_INVALID;
        }
        let inputs = std::slice::from_raw_parts(desc.inputs, desc.n_in as usize);
        let output = &*desc.outputs;
        let mut call = format!("op {} {inputs:?} layer {}", owned(desc.op), desc.layer);
        if desc.params_size as usize == size_of::<guild_norm_params>() {
            let params = desc.params.cast::<guild_norm_params>().read();
            call += &format!(" epsilon {} scale {}", params.epsilon, params.scale);
        }
        let rows = output.shape[0] == GUILD_DIM_ROWS;
        call += &format!(" rows {rows} [{}]", output.shape[1]);
        *values = host(ctx).value(call);
    }
    GUILD_STATUS_OK
}

unsafe extern "C" fn output(
    ctx: *mut c_void,
    kind: u32,
    value: u32,
    _: *mut guild_err,
) -> guild_status {
    // SAFETY: the SDK passes the context.
    unsafe { host(ctx).calls.push(format!("output {kind} {value}")) };
    GUILD_STATUS_OK
}

/// A started plugin.
struct Started {
    plugin: guild_plugin_v1,
    runners: guild_runner_v1,
}

impl Started {
    fn new() -> Started {
        // SAFETY: zero is a value of both tables; the host's outlives the plugin, being static.
        unsafe {
            let mut table: guild_host_v1 = std::mem::zeroed();
            table.h = guild_hdr::new(size_of::<guild_host_v1>(), GUILD_KIND_HOST);
            let mut plugin: guild_plugin_v1 = std::mem::zeroed();
            plugin.h = guild_hdr::new(size_of::<guild_plugin_v1>(), GUILD_KIND_PLUGIN);
            let mut err = ErrorText::new();
            let table = Box::leak(Box::new(table));
            let status = guild_sdk::entry::<Test>(table, &mut plugin, err.as_raw());
            assert_eq!(status, GUILD_STATUS_OK, "{}", err.text());
            let id = guild_str::new("guild.runner/1");
            let runners = plugin.get_extension.unwrap()(plugin.self_, id);
            let runners = runners.cast::<guild_runner_v1>().read();
            Started { plugin, runners }
        }
    }

    fn matches(&self, architecture: &str) -> (guild_status, i32) {
        let mut score = 0;
        let mut host = Host::default();
        let model = model(&mut host, architecture);
        let function = self.runners.matches.unwrap();
        // SAFETY: the plugin's own table; all arguments live during the call.
        let status = unsafe {
            function(
                self.plugin.self_,
                0,
                &model,
                &mut score,
                std::ptr::null_mut(),
            )
        };
        (status, score)
    }

    fn describe(&self, host: &mut Host) -> (guild_status, String) {
        let model = model(host, "second");
        let params = guild_describe_params {
            h: guild_hdr::new(size_of::<guild_describe_params>(), GUILD_KIND_RECORD),
            context: 77,
            reserved: [0; 3],
        };
        let builder = builder(host);
        let mut err = ErrorText::new();
        let function = self.runners.describe.unwrap();
        // SAFETY: the plugin's own table; all arguments live during the call.
        let status = unsafe {
            function(
                self.plugin.self_,
                0,
                &model,
                &params,
                &builder,
                err.as_raw(),
            )
        };
        (status, err.text().to_owned())
    }

    fn describe_calls(&self) -> u64 {
        let mut counter = guild_counter {
            size: size_of::<guild_counter>() as u32,
            reserved: 0,
            calls: 0,
            rows: 0,
        };
        // SAFETY: the plugin's own tables; all arguments live during the calls.
        unsafe {
            let id = guild_str::new("guild.counters/1");
            let counters = self.plugin.get_extension.unwrap()(self.plugin.self_, id);
            let counters = counters.cast::<guild_counters_v1>().read();
            let status = counters.runner.unwrap()(self.plugin.self_, 0, &mut counter);
            assert_eq!(status, GUILD_STATUS_OK);
        }
        counter.calls
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // SAFETY: the plugin's own table; nothing of it is used after.
        unsafe { self.plugin.shutdown.unwrap()(self.plugin.self_) };
    }
}

fn model(host: &mut Host, architecture: &str) -> guild_model_v1 {
    guild_model_v1 {
        h: guild_hdr::new(size_of::<guild_model_v1>(), GUILD_KIND_EXTENSION),
        ctx: std::ptr::from_mut(host).cast(),
        architecture: guild_str::new(architecture),
        tensor_count: 2,
        length: Some(length),
        get_u64: Some(get_u64),
        get_f64: None,
        get_str: None,
        tensor: Some(tensor),
        tensor_at: None,
    }
}

fn builder(host: &mut Host) -> guild_builder_v1 {
    guild_builder_v1 {
        h: guild_hdr::new(size_of::<guild_builder_v1>(), GUILD_KIND_EXTENSION),
        ctx: std::ptr::from_mut(host).cast(),
        section: Some(section),
        weight: Some(weight),
        input: Some(input),
        state: None,
        view: None,
        op: Some(op),
        output: Some(output),
        reserved: [0; 2],
    }
}

#[test]
fn runners_are_listed() {
    let started = Started::new();
    assert_eq!(started.runners.runner_count, 1);
    // SAFETY: zero is a value of the record; the plugin's own table.
    unsafe {
        let mut desc: guild_runner_desc = std::mem::zeroed();
        desc.h = guild_hdr::new(size_of::<guild_runner_desc>(), GUILD_KIND_RECORD);
        let info = started.runners.info.unwrap();
        let none = std::ptr::null_mut();
        assert_eq!(
            info(started.plugin.self_, 0, &mut desc, none),
            GUILD_STATUS_OK
        );
        assert_eq!(owned(desc.id), "org.example.runner.test.v1");
        assert_eq!(owned(desc.architectures), "first second");
        assert_eq!(
            info(started.plugin.self_, 1, &mut desc, none),
            GUILD_STATUS_ERR_INVALID
        );
    }
}

#[test]
fn a_match_has_a_score_and_anything_else_is_declined() {
    let started = Started::new();
    assert_eq!(started.matches("second"), (GUILD_STATUS_OK, 7));
    assert_eq!(started.matches("third"), (GUILD_STATUS_DECLINED, 0));
}

#[test]
fn a_description_reaches_the_host_and_is_counted() {
    let started = Started::new();
    let mut host = Host::default();
    assert_eq!(
        started.describe(&mut host),
        (GUILD_STATUS_OK, String::new())
    );
    assert_eq!(
        host.calls,
        [
            "section 1 main",
            "input 1",
            "weight table",
            "op guild.core.embedding@1 [1, 0] layer 3 rows true [4]",
            "weight norm",
            "op guild.core.rms_norm@1 [2, 3] layer 3 epsilon 0.5 scale 1 rows true [4]",
            "output 2 4",
        ]
    );
    assert_eq!(started.describe_calls(), 1);
}

#[test]
fn the_hosts_refusal_comes_back_as_the_runners() {
    let started = Started::new();
    let mut host = Host {
        refuse_ops: true,
        ..Host::default()
    };
    let refusal = (GUILD_STATUS_ERR_INVALID, "no room for embedding".to_owned());
    assert_eq!(started.describe(&mut host), refusal);
    assert_eq!(started.describe_calls(), 0);
}

#[test]
fn a_panic_stays_inside_the_plugin() {
    let started = Started::new();
    let mut host = Host {
        panic: true,
        ..Host::default()
    };
    let (status, text) = started.describe(&mut host);
    assert_eq!(status, GUILD_STATUS_ERR_PANIC);
    assert!(text.contains("asked to"), "{text}");
    assert_eq!(started.describe_calls(), 0);
    assert_eq!(started.describe(&mut Host::default()).0, GUILD_STATUS_OK);
}

#[test]
fn an_older_hosts_missing_function_is_named() {
    let started = Started::new();
    let mut host = Host::default();
    let model = model(&mut host, "second");
    let mut builder = builder(&mut host);
    builder.h.size = std::mem::offset_of!(guild_builder_v1, output) as u32;
    let params = guild_describe_params {
        h: guild_hdr::new(size_of::<guild_describe_params>(), GUILD_KIND_RECORD),
        context: 77,
        reserved: [0; 3],
    };
    let mut err = ErrorText::new();
    // SAFETY: the plugin's own table; all arguments live during the call.
    let status = unsafe {
        let function = started.runners.describe.unwrap();
        function(
            started.plugin.self_,
            0,
            &model,
            &params,
            &builder,
            err.as_raw(),
        )
    };
    assert_eq!(status, GUILD_STATUS_ERR_ABI);
    assert!(err.text().contains("`output`"), "{}", err.text());
}
