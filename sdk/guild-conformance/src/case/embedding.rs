//! Cases of `embedding` and `select_rows`.

use super::{Case, Operand, Seed, SequenceRows, random_weight};
use crate::oracle::{self, Matrix};
use guild_abi::contract::{EMBEDDING, SELECT_ROWS};
use guild_sdk::format::{self, WEIGHT_FORMATS};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for &format in WEIGHT_FORMATS {
        let block = format::storage(format).map_or(1, |storage| storage.block_elems);
        let hidden = if block == 1 { 33 } else { 2 * block };
        let case = embedding(format, hidden, &[4, 0, 10, 4, 7]);
        cases.extend([case.strided(), case]);
    }
    cases.push(embedding(WEIGHT_FORMATS[0], 16, &[3]));
    for bad in [-1, 11, i32::MIN, i32::MAX] {
        cases.push(embedding(WEIGHT_FORMATS[0], 16, &[1, bad]));
    }
    for ids in [&[6][..], &[0, 6, 3], &[2, 2], &[7], &[-1, 0]] {
        let case = select_rows(ids);
        cases.extend([case.strided(), case]);
    }
    cases
}

fn embedding(format: u32, hidden: usize, ids: &[i32]) -> Case {
    let vocabulary = 11;
    let bytes = random_weight(&mut Seed::new(200), format, vocabulary, hidden);
    let name = format!("{} [{vocabulary}, {hidden}] {ids:?}", format::name(format));
    let mut case = Case::new(&EMBEDDING, name, ids.len());
    let table = Matrix::new(format, &bytes, hidden).expect("whole rows");
    let y = oracle::embedding::embedding(&table, ids);
    case.invalid = y.is_err();
    let y = y.unwrap_or_else(|_| vec![0.0; ids.len() * hidden]);
    case.outputs = vec![Operand::rows(&[ids.len(), hidden], &y)];
    case.inputs = vec![
        Operand::weight(format, &[vocabulary, hidden], bytes),
        Operand::ids(&[ids.len()], ids),
    ];
    case
}

fn select_rows(ids: &[i32]) -> Case {
    let (rows, hidden) = (7, 17);
    let x = Seed::new(210).floats(rows * hidden, 1.0);
    let mut case = Case::new(&SELECT_ROWS, format!("{ids:?} of {rows}"), ids.len());
    case.sequences = vec![SequenceRows::plain(rows)];
    let y = oracle::select_rows::select_rows(&x, hidden, ids);
    case.invalid = y.is_err();
    let y = y.unwrap_or_else(|_| vec![0.0; ids.len() * hidden]);
    case.inputs = vec![
        Operand::rows(&[rows, hidden], &x),
        Operand::ids(&[ids.len()], ids),
    ];
    case.outputs = vec![Operand::rows(&[ids.len(), hidden], &y)];
    case
}
