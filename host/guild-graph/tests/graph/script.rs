//! What a test's runner says to the host's builder, through the C functions.

use core::ffi::c_void;
use core::mem::MaybeUninit;

use guild_abi::abi::{
    GUILD_KIND_RECORD, GUILD_STATE_RECURRENT, GUILD_STATUS_OK, guild_err, guild_hdr, guild_status,
    guild_str,
};
use guild_abi::formats::GUILD_FORMAT_F32;
use guild_abi::runner::{
    GUILD_DIM_OUTPUTS, GUILD_DIM_ROWS, GUILD_INPUT_OUTPUT_ROWS, GUILD_INPUT_TOKENS,
    GUILD_OUTPUT_LOGITS, GUILD_SECTION_MAIN, guild_builder_v1, guild_model_v1, guild_node_desc,
    guild_section_desc, guild_state_desc, guild_tensor_info, guild_value_desc, guild_view_desc,
};

use crate::model::HIDDEN;

/// Axis 0 of values in shorthand.
pub const ROWS: u64 = GUILD_DIM_ROWS;
/// Axis 0 of selected values in shorthand.
pub const OUTPUTS: u64 = GUILD_DIM_OUTPUTS;

/// A `describe` in progress. Every method gives the host's status as an error.
pub struct Script {
    pub model: *const guild_model_v1,
    pub builder: *const guild_builder_v1,
    pub err: *mut guild_err,
}

pub type Said<T> = Result<T, guild_status>;

fn header<T>() -> guild_hdr {
    guild_hdr::new(size_of::<T>(), GUILD_KIND_RECORD)
}

fn check(status: guild_status) -> Said<()> {
    if status == GUILD_STATUS_OK {
        Ok(())
    } else {
        Err(status)
    }
}

/// A value of an operation's outputs.
pub fn value(format: u32, shape: &[u64]) -> guild_value_desc {
    let mut desc = guild_value_desc {
        size: size_of::<guild_value_desc>() as u32,
        format,
        rank: shape.len() as u32,
        reserved: 0,
        shape: [0; 6],
    };
    desc.shape[..shape.len()].copy_from_slice(shape);
    desc
}

/// An f32 `[axis 0, hidden]` value.
pub fn hidden(axis: u64) -> guild_value_desc {
    value(GUILD_FORMAT_F32, &[axis, HIDDEN as u64])
}

impl Script {
    fn builder(&self) -> &guild_builder_v1 {
        // SAFETY: the host's builder is valid during `describe`.
        unsafe { &*self.builder }
    }

    fn model(&self) -> &guild_model_v1 {
        // SAFETY: the host's model is valid during `describe`.
        unsafe { &*self.model }
    }

    pub fn length(&self, key: &str) -> Said<u64> {
        let (model, mut out) = (self.model(), 0);
        // SAFETY: the host's function with its own context; text and `out` live on the stack.
        check(unsafe { model.length.unwrap()(model.ctx, guild_str::new(key), &mut out) })?;
        Ok(out)
    }

    pub fn integer(&self, key: &str, index: u64) -> Said<u64> {
        let (model, mut out) = (self.model(), 0);
        let key = guild_str::new(key);
        // SAFETY: as in `length`.
        check(unsafe { model.get_u64.unwrap()(model.ctx, key, index, &mut out) })?;
        Ok(out)
    }

    pub fn number(&self, key: &str, index: u64) -> Said<f64> {
        let (model, mut out) = (self.model(), 0.0);
        let key = guild_str::new(key);
        // SAFETY: as in `length`.
        check(unsafe { model.get_f64.unwrap()(model.ctx, key, index, &mut out) })?;
        Ok(out)
    }

    pub fn text(&self, key: &str, index: u64) -> Said<&str> {
        let (model, mut out) = (self.model(), guild_str::EMPTY);
        let key = guild_str::new(key);
        // SAFETY: as in `length`; the text is valid while the model is.
        unsafe {
            check(model.get_str.unwrap()(model.ctx, key, index, &mut out))?;
            Ok(out.as_str().expect("the host gives UTF-8"))
        }
    }

    pub fn tensor(&self, name: &str) -> Said<guild_tensor_info> {
        let (model, mut out) = (self.model(), MaybeUninit::zeroed());
        let name = guild_str::new(name);
        // SAFETY: as in `length`; zero bytes are a valid tensor, and the host writes a whole one.
        unsafe {
            check(model.tensor.unwrap()(model.ctx, name, out.as_mut_ptr()))?;
            Ok(out.assume_init())
        }
    }

    pub fn tensor_at(&self, index: u64) -> Said<guild_tensor_info> {
        let (model, mut out) = (self.model(), MaybeUninit::zeroed());
        // SAFETY: as in `tensor`.
        unsafe {
            check(model.tensor_at.unwrap()(model.ctx, index, out.as_mut_ptr()))?;
            Ok(out.assume_init())
        }
    }

    pub fn section_of(&self, kind: u32, name: &str) -> Said<()> {
        let desc = guild_section_desc {
            h: header::<guild_section_desc>(),
            kind,
            reserved0: 0,
            name: guild_str::new(name),
            reserved: 0,
        };
        self.raw_section(&desc)
    }

    pub fn raw_section(&self, desc: *const guild_section_desc) -> Said<()> {
        let builder = self.builder();
        // SAFETY: the host's function with its own context; `desc` is null or lives on the stack.
        check(unsafe { builder.section.unwrap()(builder.ctx, desc, self.err) })
    }

    pub fn main(&self) -> Said<()> {
        self.section_of(GUILD_SECTION_MAIN, "main")
    }

    pub fn weight(&self, name: &str) -> Said<u32> {
        let (builder, mut number) = (self.builder(), 0);
        let name = guild_str::new(name);
        // SAFETY: as in `raw_section`.
        check(unsafe { builder.weight.unwrap()(builder.ctx, name, &mut number, self.err) })?;
        Ok(number)
    }

    pub fn input(&self, kind: u32) -> Said<u32> {
        let (builder, mut number) = (self.builder(), 0);
        // SAFETY: as in `raw_section`.
        check(unsafe {
            builder.input.unwrap()(builder.ctx, kind, HIDDEN as u64, &mut number, self.err)
        })?;
        Ok(number)
    }

    pub fn state_of(&self, kind: u32, format: u32, shape: &[u64], name: &str) -> Said<u32> {
        let (builder, mut number) = (self.builder(), 0);
        let mut desc = guild_state_desc {
            h: header::<guild_state_desc>(),
            kind,
            format,
            rank: shape.len() as u32,
            reserved: 0,
            shape: [0; 4],
            name: guild_str::new(name),
        };
        desc.shape[..shape.len().min(4)].copy_from_slice(&shape[..shape.len().min(4)]);
        // SAFETY: as in `raw_section`.
        check(unsafe { builder.state.unwrap()(builder.ctx, &desc, &mut number, self.err) })?;
        Ok(number)
    }

    /// The state of `test.ops.count`.
    pub fn counter(&self, name: &str) -> Said<u32> {
        self.state_of(
            GUILD_STATE_RECURRENT,
            GUILD_FORMAT_F32,
            &[HIDDEN as u64],
            name,
        )
    }

    pub fn view(&self, source: u32, offset: u64, shape: &[u64], stride: &[u64]) -> Said<u32> {
        let (builder, mut number) = (self.builder(), 0);
        let mut desc = guild_view_desc {
            h: header::<guild_view_desc>(),
            source,
            rank: shape.len() as u32,
            offset,
            shape: [0; 6],
            stride: [0; 6],
            reserved: [0; 4],
        };
        desc.shape[..shape.len()].copy_from_slice(shape);
        desc.stride[..stride.len()].copy_from_slice(stride);
        // SAFETY: as in `raw_section`.
        check(unsafe { builder.view.unwrap()(builder.ctx, &desc, &mut number, self.err) })?;
        Ok(number)
    }

    pub fn op(
        &self,
        op: &str,
        name: &str,
        inputs: &[u32],
        states: &[u32],
        outputs: &[guild_value_desc],
    ) -> Said<u32> {
        self.op_with(op, name, &[], inputs, states, outputs)
    }

    /// An operation with parameters; gives its first output.
    pub fn op_with(
        &self,
        op: &str,
        name: &str,
        params: &[u8],
        inputs: &[u32],
        states: &[u32],
        outputs: &[guild_value_desc],
    ) -> Said<u32> {
        let builder = self.builder();
        let desc = guild_node_desc {
            h: header::<guild_node_desc>(),
            op: guild_str::new(op),
            name: guild_str::new(name),
            params: params.as_ptr().cast::<c_void>(),
            params_size: params.len() as u64,
            inputs: inputs.as_ptr(),
            states: states.as_ptr(),
            outputs: outputs.as_ptr(),
            n_in: inputs.len() as u32,
            n_state: states.len() as u32,
            n_out: outputs.len() as u32,
            layer: 7,
            output_stride: size_of::<guild_value_desc>() as u64,
        };
        let mut numbers = vec![0; outputs.len().max(1)];
        // SAFETY: as in `raw_section`; `numbers` has room for every output.
        check(unsafe { builder.op.unwrap()(builder.ctx, &desc, numbers.as_mut_ptr(), self.err) })?;
        Ok(numbers[0])
    }

    pub fn output(&self, kind: u32, value: u32) -> Said<()> {
        let builder = self.builder();
        // SAFETY: as in `raw_section`.
        check(unsafe { builder.output.unwrap()(builder.ctx, kind, value, self.err) })
    }

    /// `main`, tokens and their embedding.
    pub fn embedded(&self) -> Said<u32> {
        self.main()?;
        let table = self.weight("table")?;
        let tokens = self.input(GUILD_INPUT_TOKENS)?;
        self.op(
            "guild.core.embedding@1",
            "embed",
            &[table, tokens],
            &[],
            &[hidden(ROWS)],
        )
    }

    /// Selects rows of a value and makes them the logits.
    pub fn logits(&self, value: u32) -> Said<()> {
        let rows = self.input(GUILD_INPUT_OUTPUT_ROWS)?;
        let op = "guild.core.select_rows@1";
        let selected = self.op(op, "select", &[value, rows], &[], &[hidden(OUTPUTS)])?;
        self.output(GUILD_OUTPUT_LOGITS, selected)
    }
}

/// Embedding, doubled by `add`, a counter of the sequence's tokens added, rows selected.
pub fn whole(script: &Script) -> Said<()> {
    let embedded = script.embedded()?;
    let add = "guild.core.add@1";
    let copy = script.op(add, "double", &[embedded, embedded], &[], &[hidden(ROWS)])?;
    let state = script.counter("tokens")?;
    let count = "test.ops.count@1";
    let counted = script.op(count, "count", &[copy], &[state], &[hidden(ROWS)])?;
    let sum = script.op(add, "sum", &[counted, embedded], &[], &[hidden(ROWS)])?;
    script.output(guild_abi::runner::GUILD_OUTPUT_HIDDEN, sum)?;
    script.logits(sum)
}
