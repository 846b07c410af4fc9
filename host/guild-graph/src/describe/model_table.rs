//! The model file as a runner sees it, still in safe terms: answers or a status.

use guild_abi::abi::{
    GUILD_STATUS_ERR_INVALID, GUILD_STATUS_ERR_NOT_FOUND, guild_status, guild_str,
};
use guild_abi::runner::guild_tensor_info;
use guild_model::{ModelSource, TensorInfo, Value};

use crate::error::GraphError;
use crate::format::ElementFormat;
use crate::shape::AXES_MAX;

/// A model file behind the functions of `guild_model_v1`.
pub(super) struct ModelTable<'m> {
    model: &'m dyn ModelSource,
    architecture: &'m str,
}

type Answer<T> = Result<T, guild_status>;

impl<'m> ModelTable<'m> {
    /// Wraps a model; it must name its architecture.
    pub(super) fn new(model: &'m dyn ModelSource) -> Result<ModelTable<'m>, GraphError> {
        let architecture: &str = model.metadata().require("general.architecture")?;
        Ok(ModelTable {
            model,
            architecture,
        })
    }

    /// The file's architecture name.
    pub(super) fn architecture(&self) -> &'m str {
        self.architecture
    }

    /// Number of tensors.
    pub(super) fn tensor_count(&self) -> u64 {
        self.model.tensors().len() as u64
    }

    /// Elements of a metadata value.
    pub(super) fn length(&self, key: &str) -> Answer<u64> {
        match self.model.metadata().value(key) {
            None => Err(GUILD_STATUS_ERR_NOT_FOUND),
            Some(Value::Array(array)) => Ok(array.len()),
            Some(_) => Ok(1),
        }
    }

    /// An integer from 0 up, or a boolean.
    pub(super) fn integer(&self, key: &str, index: u64) -> Answer<u64> {
        match self.element(key, index)? {
            Value::Bool(flag) => Ok(flag.into()),
            Value::U64(number) => Ok(number),
            other => {
                let number = other.as_i64().and_then(|number| u64::try_from(number).ok());
                number.ok_or(GUILD_STATUS_ERR_INVALID)
            }
        }
    }

    /// A number of any type.
    pub(super) fn number(&self, key: &str, index: u64) -> Answer<f64> {
        match self.element(key, index)? {
            Value::F32(number) => Ok(number.into()),
            Value::F64(number) => Ok(number),
            Value::U64(number) => Ok(number as f64),
            other => {
                let number = other.as_i64().map(|number| number as f64);
                number.ok_or(GUILD_STATUS_ERR_INVALID)
            }
        }
    }

    /// A string.
    pub(super) fn text(&self, key: &str, index: u64) -> Answer<&'m str> {
        match self.element(key, index)? {
            Value::String(text) => Ok(text),
            _ => Err(GUILD_STATUS_ERR_INVALID),
        }
    }

    /// A tensor by name.
    pub(super) fn tensor(&self, name: &str) -> Answer<guild_tensor_info> {
        let tensor = self.model.tensor(name);
        tensor.map(tensor_info).ok_or(GUILD_STATUS_ERR_NOT_FOUND)
    }

    /// A tensor by number.
    pub(super) fn tensor_at(&self, index: u64) -> Answer<guild_tensor_info> {
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        let tensor = self.model.tensors().get(index);
        tensor.map(tensor_info).ok_or(GUILD_STATUS_ERR_NOT_FOUND)
    }

    fn element(&self, key: &str, index: u64) -> Answer<Value<'m>> {
        let value = self.model.metadata().value(key);
        let element = match value.ok_or(GUILD_STATUS_ERR_NOT_FOUND)? {
            Value::Array(array) => {
                let index = usize::try_from(index).unwrap_or(usize::MAX);
                array.iter().nth(index)
            }
            scalar => (index == 0).then_some(scalar),
        };
        element.ok_or(GUILD_STATUS_ERR_NOT_FOUND)
    }
}

/// A tensor in the ABI's terms; format 0 where guild has none.
fn tensor_info(tensor: &TensorInfo) -> guild_tensor_info {
    let format = tensor.format().ok().and_then(ElementFormat::of_weight);
    let mut shape = [1; AXES_MAX];
    // A file's shape has the contiguous axis first, the ABI's the outermost.
    for (axis, dim) in shape.iter_mut().zip(tensor.shape.iter().rev()) {
        *axis = *dim;
    }
    guild_tensor_info {
        size: size_of::<guild_tensor_info>() as u32,
        format: format.map_or(0, ElementFormat::number),
        rank: tensor.shape.len() as u32,
        reserved: 0,
        shape,
        byte_len: tensor.byte_len.unwrap_or(0),
        name: guild_str::new(&tensor.name),
    }
}
