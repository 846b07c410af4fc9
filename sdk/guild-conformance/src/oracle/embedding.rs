//! `guild.core.embedding@1`.

use super::{Invalid, Matrix, index};

/// Row `ids[r]` of the table for each `r`, decoded: `[rows, hidden]`.
///
/// # Errors
/// An id outside the table.
pub fn embedding(table: &Matrix<'_>, ids: &[i32]) -> Result<Vec<f32>, Invalid> {
    let mut out = Vec::new();
    for &id in ids {
        let row = index(id, table.rows(), "a token id is outside the vocabulary")?;
        out.extend(table.decode(row));
    }
    Ok(out)
}
