"""Writes the points of ggml's lattices as Rust, and checksums of them beside this file.

The points are facts of the formats; gguf-py (0.19.0) has them as packed level numbers, and as the values that
those stand for. The Rust tables come from the first, `grids.json` from the second.

usage: make_grids.py"""

import json
import pathlib

import numpy as np
from gguf import quants

HERE = pathlib.Path(__file__).parent
RUST = HERE / "../../../sdk/guild-quant/src/format/grid/points.rs"
# Columns that rustfmt fills with an array's numbers.
WIDTH = 100

HEAD = """\
//! Level numbers of the points, eight of two bits or four of four bits, the first element lowest.
//!
//! Written by `tests/data/quants/make_grids.py` from gguf-py; don't edit.
"""


def packed(kind: type) -> np.ndarray:
    return np.frombuffer(bytes.fromhex(kind.grid_hex.decode()), "<u2")


def table(name: str, points: np.ndarray) -> str:
    lines, line = [], "   "
    for point in points:
        word = f" {point:#06x},"
        if len(line) + len(word) > WIDTH:
            lines.append(line)
            line = "   "
        line += word
    lines.append(line)
    body = "\n".join(lines)
    return f"\npub(super) const {name}: [u16; {len(points)}] = [\n{body}\n];\n"


def checksum(kind: type) -> dict:
    """Each element times its number, counted from 1 through all points."""
    kind.init_grid()
    values = kind.grid.reshape(kind.grid_shape).astype(np.int64)
    numbers = np.arange(1, values.size + 1).reshape(values.shape)
    points, elems = values.shape
    return {"points": points, "elems": elems, "checksum": int((values * numbers).sum())}


def main() -> None:
    names = ["IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S"]
    kinds = {name: getattr(quants, name) for name in names}
    # IQ1_S and IQ1_M have one lattice.
    kinds["IQ1"] = quants.IQ1_S
    RUST.parent.mkdir(exist_ok=True)
    RUST.write_text(HEAD + "".join(table(name, packed(kind)) for name, kind in kinds.items()))
    sums = {name: checksum(kind) for name, kind in kinds.items()}
    (HERE / "grids.json").write_text(json.dumps(sums, indent=1) + "\n")


if __name__ == "__main__":
    main()
