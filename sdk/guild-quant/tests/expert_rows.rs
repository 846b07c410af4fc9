//! Properties of the interleaved order of an expert's rows, over arbitrary sizes and bytes.

use guild_quant::ExpertRows;
use proptest::prelude::*;

#[derive(Clone, Debug)]
struct Expert {
    ff: usize,
    gate_row: usize,
    up_row: usize,
    gate: Vec<u8>,
    up: Vec<u8>,
    down: Vec<u8>,
}

impl Expert {
    fn rows(&self) -> ExpertRows {
        ExpertRows::new(self.ff, self.gate_row, self.up_row, self.down.len()).unwrap()
    }

    fn packed(&self) -> Vec<u8> {
        let mut packed = vec![0xa5; self.rows().bytes()];
        let parts = (&self.gate, &self.up, &self.down);
        self.rows()
            .pack(parts.0, parts.1, parts.2, &mut packed)
            .unwrap();
        packed
    }
}

fn any_expert() -> impl Strategy<Value = Expert> {
    (0..20usize, 0..40usize, 0..40usize, 0..100usize).prop_flat_map(
        |(ff, gate_row, up_row, down)| {
            let bytes = |len| prop::collection::vec(any::<u8>(), len);
            (bytes(ff * gate_row), bytes(ff * up_row), bytes(down)).prop_map(
                move |(gate, up, down)| Expert {
                    ff,
                    gate_row,
                    up_row,
                    gate,
                    up,
                    down,
                },
            )
        },
    )
}

proptest! {
    #[test]
    fn unpacking_gives_every_byte_back(expert in any_expert()) {
        let packed = expert.packed();
        let mut gate = vec![0x5a; expert.gate.len()];
        let mut up = vec![0x5a; expert.up.len()];
        let mut down = vec![0x5a; expert.down.len()];
        expert.rows().unpack(&packed, &mut gate, &mut up, &mut down).unwrap();
        prop_assert_eq!((gate, up, down), (expert.gate, expert.up, expert.down));
    }

    #[test]
    fn rows_alternate_at_the_strides_that_tensors_name(expert in any_expert()) {
        let (packed, rows) = (expert.packed(), expert.rows());
        for i in 0..expert.ff {
            let at = i * rows.pair_bytes();
            let (gate, up) = (expert.gate_row, expert.up_row);
            prop_assert_eq!(&packed[at..][..gate], &expert.gate[i * gate..][..gate]);
            prop_assert_eq!(&packed[at + gate..][..up], &expert.up[i * up..][..up]);
        }
        prop_assert_eq!(&packed[rows.down_at()..], &expert.down[..]);
    }

    #[test]
    fn a_wrong_length_changes_nothing(expert in any_expert(), part in 0..4usize) {
        let mut given = [
            expert.gate.clone(),
            expert.up.clone(),
            expert.down.clone(),
            vec![0xa5; expert.rows().bytes()],
        ];
        given[part].push(0xa5);
        let [gate, up, down, packed] = &mut given;
        let before = packed.clone();
        prop_assert!(expert.rows().pack(gate, up, down, packed).is_err());
        prop_assert_eq!(packed, &before);
    }
}

#[test]
fn the_order_of_a_small_expert_is_written_out() {
    let rows = ExpertRows::new(2, 2, 1, 3).unwrap();
    let mut packed = [0; 9];
    rows.pack(&[1, 2, 3, 4], &[5, 6], &[7, 8, 9], &mut packed)
        .unwrap();
    assert_eq!(packed, [1, 2, 5, 3, 4, 6, 7, 8, 9]);
    assert_eq!(ExpertRows::new(usize::MAX, 1, 1, 0), None);
}
