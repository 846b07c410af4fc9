"""The values that weights are rounded to, which BF16 and Q8_0 both hold exactly.

A block of 32 weights is a power of two times integers of -127 to 127. Such a product has seven significant bits
and BF16 has eight; Q8_0 stores the power as F16 and the integers as bytes.
"""
import numpy as np

BLOCK_ELEMS = 32
BLOCK_BYTES = 34
INTEGER_MAX = 127
# The smallest number of F16.
SCALE_MIN = 2.0 ** -24


def split(values):
    """`[blocks, 1]` scales and `[blocks, 32]` integers nearest to the values, each scale the smallest that will do."""
    blocks = values.reshape(-1, BLOCK_ELEMS)
    largest = np.abs(blocks).max(axis=1, keepdims=True)
    fraction, exponent = np.frexp(np.maximum(largest / INTEGER_MAX, SCALE_MIN))
    scales = np.ldexp(np.float32(1), np.where(fraction == 0.5, exponent - 1, exponent)).astype(np.float32)
    return scales, np.clip(np.rint(blocks / scales), -INTEGER_MAX, INTEGER_MAX)


def rounded(values):
    """The nearest values on the grid."""
    scales, integers = split(values)
    return (integers * scales).reshape(values.shape).astype(np.float32)


def packed(values):
    """Q8_0 blocks of values that are on the grid."""
    scales, integers = split(values)
    if not np.array_equal((integers * scales).reshape(values.shape), values):
        raise ValueError("a value isn't on the grid")
    parts = [scales.astype(np.float16).view(np.uint8), integers.astype(np.int8).view(np.uint8)]
    return np.concatenate(parts, axis=1).reshape(*values.shape[:-1], values.shape[-1] // BLOCK_ELEMS * BLOCK_BYTES)
