//! `guild.core.select_rows@1`.

use super::{Invalid, index};

/// Row `ids[i]` of `x: [rows, hidden]` for each `i`: `[outputs, hidden]`.
///
/// # Errors
/// An id outside the rows.
pub fn select_rows(x: &[f32], hidden: usize, ids: &[i32]) -> Result<Vec<f32>, Invalid> {
    let mut out = Vec::new();
    for &id in ids {
        let row = index(
            id,
            x.len() / hidden,
            "a row number is outside the call's rows",
        )?;
        out.extend_from_slice(&x[row * hidden..][..hidden]);
    }
    Ok(out)
}
