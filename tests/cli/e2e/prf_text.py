"""A second reader of .prf files, made from the tables of CodeScape's appendix B alone, field by field; it shares
nothing with profiler/prf*.c. It asserts what the text says must hold and returns plain dictionaries.

The tables give bytes from the start of each structure; numbers are little-endian; offsets in the file header count
from the end of the header."""
import struct

HEADER = [("size", 0, 4), ("version", 4, 1), ("icache", 7, 1), ("day", 8, 1), ("month", 9, 1), ("year", 10, 1),
          ("hour", 11, 1), ("minute", 12, 1), ("second", 13, 1), ("type", 14, 1), ("hits", 15, 8),
          ("c1_children", 23, 8), ("c1", 31, 8), ("c2_children", 39, 8), ("c2", 47, 8), ("counter1", 55, 1),
          ("counter2", 56, 1), ("overlays", 57, 4), ("functions", 61, 4), ("calls", 65, 4), ("overlay_offset", 69, 4),
          ("function_offset", 73, 4), ("trace_offset", 77, 4)]
FUNCTION = [("size", 0, 4), ("description", 4, 1), ("attributes", 5, 2), ("cache_line", 7, 2), ("low", 9, 4),
            ("max", 13, 4), ("overlay_area", 17, 4), ("overlay", 21, 4), ("group", 25, 4), ("hits", 37, 8),
            ("c1_children", 45, 8), ("c1", 53, 8), ("c2_children", 61, 8), ("c2", 69, 8)]
CALL = [("size", 0, 4), ("marker", 4, 1), ("number", 5, 4), ("description", 9, 1), ("attributes", 10, 2),
        ("cache_line", 12, 2), ("low", 14, 4), ("max", 18, 4), ("overlay_area", 22, 4), ("overlay", 26, 4),
        ("group", 30, 4), ("hits", 42, 8), ("c1_children", 50, 8), ("c1", 58, 8), ("c2_children", 66, 8), ("c2", 74, 8)]
RETURN = [("size", 0, 4), ("marker", 4, 1), ("number", 5, 4)]
ID = b"PROFILER FILE:"
HEADER_BYTES, FUNCTION_BYTES, CALL_BYTES = 89, 77, 82


def fields(data, at, table):
    return {name: int.from_bytes(data[at + offset:at + offset + size], "little") for name, offset, size in table}


def names(data, at):
    """Function Name, Linker Label, Qualified Name, each with its length in two bytes before it; and where they end."""
    out = []
    for _ in range(3):
        n = int.from_bytes(data[at:at + 2], "little")
        out.append(data[at + 2:at + 2 + n].decode())
        at += 2 + n
    return out, at


def record(data, at, table, fixed):
    r = fields(data, at, table)
    (r["name"], r["label"], r["qualified"]), end = names(data, at + fixed)
    assert at + 4 + r["size"] == end, f"record at {at} says {r['size']} bytes to follow, has {end - at - 4}"
    return r, end


def trace(data, at, count):
    """The calls, each with the place of its caller in the list as parent (None at roots)."""
    calls, stack = [], []
    for _ in range(2 * count):
        if data[at + 4] == 0xFF:
            call, at = record(data, at, CALL, CALL_BYTES)
            call["parent"] = stack[-1] if stack else None
            stack.append(len(calls))
            calls.append(call)
        else:
            r = fields(data, at, RETURN)
            assert (r["size"], r["marker"], r["number"]) == (5, 0, calls[stack.pop()]["number"]), r
            at += 9
    assert not stack and len(calls) == count and len({c["number"] for c in calls}) == count
    return calls, at


def read(data):
    assert data[:14] == ID
    header = fields(data, 14, HEADER)
    assert header["size"] == 0x55 and header["overlays"] == 0
    end = 14 + HEADER_BYTES
    functions, at = [], end + header["function_offset"]
    for _ in range(header["functions"]):
        f, at = record(data, at, FUNCTION, FUNCTION_BYTES)
        functions.append(f)
    calls = []
    if header["type"] == 2:
        assert at == end + header["trace_offset"]
        calls, at = trace(data, at, header["calls"])
    assert at == len(data)
    return header, functions, calls


def pack(table, size, values):
    out = bytearray(size)
    for name, offset, width in table:
        out[offset:offset + width] = values.get(name, 0).to_bytes(width, "little")
    return bytes(out)


def statistical(hits):
    """The bytes of a statistical profile: hits is [(name, low, max, hits)]."""
    body = b""
    for name, low, high, n in hits:
        text = b"".join(struct.pack("<H", len(t)) + t for t in (name.encode(), b"_" + name.encode(), b""))
        body += pack(FUNCTION, FUNCTION_BYTES, {
            "size": FUNCTION_BYTES - 4 + len(text), "description": 1, "cache_line": low >> 5 & 255, "low": low, "max": high,
            "overlay_area": 0xFFFFFFFF, "overlay": 0xFFFFFFFF, "group": 0xFFFFFFFF, "hits": n}) + text
    return ID + pack(HEADER, HEADER_BYTES, {
        "size": 0x55, "version": 1, "icache": 1, "day": 14, "month": 8, "year": 99, "hour": 9, "minute": 30, "type": 1,
        "hits": sum(h[3] for h in hits), "functions": len(hits)}) + body
