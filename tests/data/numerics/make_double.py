"""ln and exp of random f64 arguments, correctly rounded by way of Python's decimal at 60 digits.

use: python make_double.py > double.txt
"""

import random
import struct
from decimal import Decimal, getcontext

getcontext().prec = 60


def bits(value):
    return struct.pack(">d", value).hex()


source = random.Random(1)
for _ in range(600):
    x = 2.0 ** source.uniform(-40, 40)
    print("ln", bits(x), bits(float(Decimal(x).ln())))
for _ in range(400):
    x = 1 + source.uniform(-1, 1) * 2.0 ** source.uniform(-50, -1)
    print("ln", bits(x), bits(float(Decimal(x).ln())))
for _ in range(1000):
    x = source.uniform(-1, 1) * 10 ** source.uniform(-8, 2.838)
    print("exp", bits(x), bits(float(Decimal(x).exp())))
