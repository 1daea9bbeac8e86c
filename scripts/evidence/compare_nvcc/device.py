"""Replays a recording of device calls (simulator/runtime/work/record.h) on the simulator's libcuda.so.1, with its own PTX or with another.

device.py LIBRARY RECORDING [OPTION]...   prints one line of JSON: the launches, each with its kernel, its error, and digests of all device memory after it

  --ptx FILE       this PTX for all kernels and variables
  --rename OLD=NEW a kernel's name in that PTX
  --vary           other values in the arrays that the host writes
  --checked        no digests: the host reads only what it reads in the recording, so that the checker sees the same accesses

The settings of the environment apply: SIM_COUNTERS names a file that gets a row for each launch."""

import argparse
import ctypes
import hashlib
import json
import random
import re
import struct
import sys
from pathlib import Path

MAX_LAUNCHES = 60  # the calls after these are left out
CLUSTER_DIMENSION, COOPERATIVE = 4, 2  # CUlaunchAttributeID
VARIABLE = re.compile(r"^\s*(?:\.visible |\.extern |\.weak )*\.(?:global|const)\b[^;={]*?([\w$]+)(?:\[[^\]]*\])*\s*[;=]", re.M)

LIBRARY = re.compile(r"4cuda3std")  # libcu++ in a mangled name


class Failure(Exception):
    """A call failed."""


class LaunchConfig(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint), ("stream", ctypes.c_void_p),
                ("attributes", ctypes.c_void_p), ("count", ctypes.c_uint)]


# ---- Recordings

def read_recording(data):
    """The calls as lists of words, the PTX texts by binary, and the bytes by name."""
    calls, texts, blobs, at = [], {}, {}, 0
    while at < len(data):
        end = data.index(b"\n", at)
        words = data[at:end].decode().split()
        at = end + 1
        if words and words[0] in ("ptx", "bytes", "source"):
            content = data[at:at + int(words[2])]
            at += len(content) + 1
            if words[0] == "ptx":
                texts.setdefault(int(words[1]), []).append(content)
            elif words[0] == "bytes":
                blobs[words[1]] = content
        elif words and words[0] != "recording":
            calls.append(words)
    return calls, texts, blobs


def varied(content):
    """Other values of the same kind: the words of an array in another order; if all are equal, floats and small integers are multiplied."""
    count = len(content) // 4
    if count < 2 or len(content) % 4:
        return content
    words = struct.unpack(f"<{count}I", content)
    if len(set(words)) > 1:
        return struct.pack(f"<{count}I", *random.Random(count).sample(words, count))
    value = struct.unpack("<f", content[:4])[0]
    if 1e-6 < abs(value) < 1e6:
        return struct.pack(f"<{count}f", *(value * (1 + k * 7 % 13) for k in range(count)))
    return struct.pack(f"<{count}I", *((words[0] + k * 7 % 13) & 0xffffffff for k in range(count))) if 0 < words[0] < 1 << 16 else content


# ---- The device

class Device:
    def __init__(self, library, texts, namespace, options):
        self.cuda = ctypes.CDLL(library)
        self.options = options
        self.memory, self.modules, self.variables = {}, {}, {}
        self.texts, self.originals = texts, {}  # the recording's own PTX, for kernels that the other one lacks
        self.call("cuInit", 0)
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)
        replaced = Path(options.ptx).read_bytes() if options.ptx else None
        for number, parts in texts.items():
            if replaced is None and len(parts) > 1:
                raise Failure("several PTX texts are linked")
            self.modules[number] = self.loaded(replaced or parts[0])
            names = set(VARIABLE.findall(b"".join(parts).decode()))
            self.variables[number] = sorted((name for name in names if name.startswith(namespace) and not LIBRARY.search(name)), key=simple_name)
            self.names = {simple_name(name): name for name in VARIABLE.findall(replaced.decode())} if replaced else {}

    def call(self, name, *arguments):
        error = getattr(self.cuda, name)(*arguments)
        if error:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorString(error, ctypes.byref(text))
            raise Failure(f"{name}: {(text.value or b'?').decode()}")

    def loaded(self, text):
        module = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), text + b"\0")
        return module

    def function(self, number, name):
        """A kernel; the recording's own if the other PTX lacks it."""
        function = ctypes.c_void_p()
        if self.cuda.cuModuleGetFunction(ctypes.byref(function), self.modules[number], self.options.rename.get(name, name).encode()):
            if number not in self.originals:
                self.originals[number] = self.loaded(self.texts[number][0])
            self.call("cuModuleGetFunction", ctypes.byref(function), self.originals[number], name.encode())
        return function

    def variable(self, number, name):
        address, size = ctypes.c_uint64(), ctypes.c_size_t()
        name = self.names.get(simple_name(name), name)
        self.call("cuModuleGetGlobal_v2", ctypes.byref(address), ctypes.byref(size), self.modules[number], name.encode())
        return address.value, size.value

    def place(self, word):
        """The address of a place: N+OFFSET or B:NAME+OFFSET."""
        place, offset = word.rsplit("+", 1)
        if ":" in place:
            number, name = place.split(":", 1)
            return self.variable(int(number), name)[0] + int(offset)
        return self.memory[place][0] + int(offset)

    def bytes_at(self, address, count):
        data = ctypes.create_string_buffer(count)
        self.call("cuMemcpyDtoH_v2", data, ctypes.c_uint64(address), ctypes.c_size_t(count))
        return data.raw

    def digests(self):
        """Of all allocations, and of each variable that is there: a compiler may remove one, and libcu++'s are no part of the program."""
        whole = hashlib.sha256()
        for address, count in self.memory.values():
            whole.update(self.bytes_at(address, count))
        found = {"": whole.hexdigest()[:16]}
        for number, names in self.variables.items():
            for name in names:
                try:
                    found[simple_name(name)] = hashlib.sha256(self.bytes_at(*self.variable(number, name))).hexdigest()[:16]
                except Failure:
                    continue
        return found

    # The calls of a recording

    def allocate(self, number, kind, count, *_):
        address = ctypes.c_uint64()
        name = {"device": "cuMemAlloc_v2", "pinned": "cuMemAllocHost_v2", "managed": "cuMemAllocManaged"}[kind]
        self.call(name, ctypes.byref(address), ctypes.c_size_t(int(count)), *([1] if kind == "managed" else []))
        self.memory[number] = address.value, int(count)

    def free(self, number):
        del self.memory[number]  # the memory stays: that a kernel uses it is a mistake that the checker finds elsewhere

    def write(self, at, count, content):
        content = content[:int(count)]
        content = varied(content) if self.options.vary else content
        self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(self.place(at)), content, ctypes.c_size_t(len(content)))

    def fill(self, at, count, value):
        self.call("cuMemsetD8_v2", ctypes.c_uint64(self.place(at)), int(value), ctypes.c_size_t(int(count)))

    def copy(self, to, origin, count):
        self.call("cuMemcpyDtoD_v2", ctypes.c_uint64(self.place(to)), ctypes.c_uint64(self.place(origin)), ctypes.c_size_t(int(count)))

    def read(self, at, count, _):
        if self.options.checked:
            self.bytes_at(self.place(at), int(count))

    def argument(self, word):
        """One argument as bytes: words of eight bytes, between commas."""
        return b"".join(self.place(part[1:]).to_bytes(8, "little") if part[0] == "@" else int(part, 16).to_bytes(len(part) // 2, "little")
                        for part in word.split(","))

    def launch(self, binary, kernel, grid, block, shared, cluster, cooperative, *arguments):
        function = self.function(int(binary), kernel)
        if int(shared) > 48 << 10:
            self.call("cuFuncSetAttribute", function, 8, int(shared))  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        self.cuda.cuFuncSetAttribute(function, 14, 1)  # ..._NON_PORTABLE_CLUSTER_SIZE_ALLOWED
        buffers = [ctypes.create_string_buffer(self.argument(word)) for word in arguments]
        pointers = (ctypes.c_void_p * max(1, len(buffers)))(*map(ctypes.addressof, buffers))
        attributes = attribute(CLUSTER_DIMENSION, numbers(cluster)) if cluster != "0,0,0" else b""
        attributes += attribute(COOPERATIVE, [1]) if int(cooperative) else b""
        kept = ctypes.create_string_buffer(attributes)
        config = LaunchConfig((ctypes.c_uint * 3)(*numbers(grid)), (ctypes.c_uint * 3)(*numbers(block)), int(shared), None,
                              ctypes.addressof(kept), len(attributes) // 72)
        self.call("cuLaunchKernelEx", ctypes.byref(config), function, pointers, None)
        self.call("cuCtxSynchronize")


def simple_name(mangled):
    """The last part of a nested name: tickets of _ZN6answer7ticketsE. In the table of exercises only nvcc's names are in a namespace."""
    name, rest = mangled, mangled[3:] if mangled.startswith("_ZN") else ""
    while length := re.match(r"L?(\d+)", rest):
        name, rest = rest[length.end():length.end() + int(length[1])], rest[length.end() + int(length[1]):]
    return name


def namespace_of(mangled):
    """_ZN6answer of _ZN6answer3sumEPKf: an exercise's variants are in one PTX, each in a namespace; other programs have no such kernels."""
    length = re.match(r"_ZN(\d+)", mangled)
    return mangled[:length.end() + int(length[1])] if length else ""


def numbers(word):
    return [int(number) for number in word.split(",")]


def attribute(number, values):
    """A CUlaunchAttribute."""
    return struct.pack("<I4x", number) + struct.pack(f"<{len(values)}I", *values).ljust(64, b"\0")


def replay(options):
    calls, texts, blobs = read_recording(Path(options.recording).read_bytes())
    launches = []
    try:
        first = next((words[2] for words in calls if words[0] == "launch"), "")
        device = Device(options.library, texts, namespace_of(first), options)
        for name, *words in calls:
            if name == "launch" and len(launches) == MAX_LAUNCHES:
                break
            if name == "write":
                words[2] = blobs[words[2]]
            if name == "launch":
                launches.append({"kernel": words[1], "error": "not launched", "digests": {}})
            getattr(device, name)(*words)
            if name == "launch":
                launches[-1].update(error="", digests={} if options.checked else device.digests())
    except Failure as failure:
        if not launches:
            return {"launches": [], "error": str(failure)}
        launches[-1]["error"] = launches[-1]["error"] and str(failure)
        return {"launches": launches, "error": str(failure)}
    return {"launches": launches, "error": ""}


def options_of(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("recording")
    parser.add_argument("--ptx")
    parser.add_argument("--rename", action="append", default=[])
    parser.add_argument("--vary", action="store_true")
    parser.add_argument("--checked", action="store_true")
    options = parser.parse_args(words)
    options.rename = dict(word.split("=") for word in options.rename)
    return options


if __name__ == "__main__":
    print(json.dumps(replay(options_of(sys.argv[1:]))))
