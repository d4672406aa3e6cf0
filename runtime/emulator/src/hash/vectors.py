"""Writes vectors.json: effective partition keys by an independent client, Python's azure-cosmos.

    pip install azure-cosmos==4.17.1 && python3 vectors.py > vectors.json
"""

import json

from azure.cosmos.partition_key import PartitionKey, _Undefined

HASH = PartitionKey(path="/key", kind="Hash", version=2)

STRINGS = [
    "", "a", "b", "A", " ", "customer", "tenant-1", "tenant-2", "0", "null", "\u0000", "\"quoted\"", "back\\slash",
    "line\nbreak", "é", "ß", "日本語", "🦀", "e\u0301", "12345678", "1234567", "123456789012345", "1234567890123456",
    "12345678901234567", "x" * 31, "x" * 32, "x" * 33, "y" * 100, "y" * 101, "z" * 300, "ü" * 150,
    "4f2c9a0e-6f1c-4c9b-8b54-0d9f0c2a1b3d",
]
# The text is what stands in the document; the value is what the client hashes.
NUMBERS = [
    ("0", 0), ("-0.0", -0.0), ("1", 1), ("-1", -1), ("1.0", 1.0), ("42", 42), ("1e3", 1e3), ("0.1", 0.1),
    ("-12.5", -12.5), ("3.141592653589793", 3.141592653589793), ("9007199254740991", 2**53 - 1),
    ("9007199254740992", 2**53), ("9007199254740993", 2**53 + 1), ("-9007199254740993", -(2**53) - 1),
    ("9223372036854775807", 2**63 - 1), ("1e300", 1e300), ("5e-324", 5e-324), ("1.7976931348623157e308", 1.7976931348623157e308),
]


def vector(text, value):
    return {"json": text, "epk": HASH._get_effective_partition_key_string([value])}


vectors = [vector(json.dumps([s], ensure_ascii=False), s) for s in STRINGS]
vectors += [vector(f"[{text}]", value) for text, value in NUMBERS]
vectors += [vector("[true]", True), vector("[false]", False), vector("[null]", None), vector("[{}]", _Undefined())]
print(json.dumps(vectors, ensure_ascii=False, indent=1))
