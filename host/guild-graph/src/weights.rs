//! Where a section's weights lie in the model file's mapping.

use core::ffi::c_void;
use std::collections::BTreeMap;

use guild_model::ModelSource;

use crate::error::GraphError;
use crate::graph::{Origin, Section};
use crate::sizes::Sizes;

/// The address of each weight of a section, by value number. Valid while the model source lives.
pub(crate) struct WeightAddresses {
    addresses: BTreeMap<usize, *const u8>,
    /// Bytes of the section's tensors, each once.
    pub(crate) bytes: u64,
}

impl WeightAddresses {
    /// Looks up every weight; reads none of them.
    pub(crate) fn new(
        section: &Section,
        sizes: &Sizes,
        model: &dyn ModelSource,
    ) -> Result<WeightAddresses, GraphError> {
        let mut addresses = BTreeMap::new();
        let mut lengths = BTreeMap::new();
        for (index, value) in section.values.iter().enumerate() {
            let Origin::Weight { name, .. } = &value.origin else {
                continue;
            };
            let bytes = model.tensor_bytes(name)?;
            let needed_bytes = sizes.bytes(value);
            if bytes.len() as u64 != needed_bytes {
                return Err(GraphError::WeightBytes {
                    name: name.clone(),
                    found_bytes: bytes.len() as u64,
                    needed_bytes,
                });
            }
            addresses.insert(index, bytes.as_ptr());
            lengths.insert(name.as_str(), needed_bytes);
        }
        Ok(WeightAddresses {
            addresses,
            bytes: lengths.values().sum(),
        })
    }

    /// The weight's first byte; null for a value that is no weight. Never written through.
    pub(crate) fn get(&self, value: usize) -> *mut c_void {
        let address = self.addresses.get(&value);
        address.map_or(core::ptr::null_mut(), |address| address.cast_mut().cast())
    }
}
