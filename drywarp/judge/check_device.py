"""The device of make judge: executes a program's CUDA calls on the simulator, and sends the results to the judge.

The program (check_program.c) is another process, which is not trusted. It may choose the kernels and their arguments; it cannot
read the array, and cannot access the sums and the counters. check.py starts both."""

from __future__ import annotations

import ctypes
import itertools
import json
import math
import os
import struct
import sys
from collections.abc import Iterable, Sequence
from typing import Any

QUESTION = struct.Struct("<II12Q")  # as in check_program.c
ANSWER = struct.Struct("<iI8Q")
NUMBERS = 8  # of an answer
NEXT_TASK, KERNEL, START, LAST_ERROR, PEEK_ERROR, ERROR_NAME, ERROR_TEXT = 0, 2, 4, 16, 17, 18, 19  # some of the questions
STOP, COUNT, LAUNCH = range(3)  # the program's tasks; the last two are arguments of check_call, in the judge's part
SUCCESS, INVALID_VALUE, OUT_OF_MEMORY, NOT_FOUND, NOT_SUPPORTED = 0, 1, 2, 500, 801  # of cudaError_t
TO_DEVICE, TO_HOST, ON_DEVICE = 1, 2, 3  # of cudaMemcpyKind
FLOAT_BYTES = 4
FLOAT = struct.Struct("<f")
UNINITIALISED = b"\xff" * FLOAT_BYTES  # the simulator's fill pattern: a NaN that additions do not produce
MAX_BYTES = 1 << 28  # the limit of all allocations together, and of a single load or write
MAX_QUESTIONS = 100_000
TOO_MUCH_MEMORY = f"the program needed more than {MAX_BYTES >> 20} MB of device memory"
TOO_MANY_QUESTIONS = f"the program called CUDA more than {MAX_QUESTIONS:,} times"
MAX_PASSES = 64
PROPERTIES_SPACE, ATTRIBUTES_SPACE = 4096, 1024  # at least the sizes of the two structs
READS_BACK = "launch copies from the device to the host; here kernels have to do the work, and the host cannot read the array"


Reply = tuple[int, Sequence[int], bytes]  # an error, numbers, data
Kernel = tuple[ctypes.c_void_p, list[tuple[int, int]], str]  # its function, the offsets and sizes of its parameters, its name


class Ended(Exception):
    """The program has ended, or sent an invalid question."""


class Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


COOPERATIVE, CLUSTER_DIMENSION, PROGRAMMATIC_STREAM_SERIALIZATION = 2, 4, 6  # cudaLaunchAttributeID
COOPERATIVE_FLAG, OTHER_ATTRIBUTE_FLAG, DEPENDENT_FLAG = 1, 2, 4  # of a launch, as in check_program.c


class Attribute(ctypes.Structure):  # cudaLaunchAttribute, and of its 64 bytes for a value the first three words
    _fields_ = [("id", ctypes.c_uint), ("padding", ctypes.c_uint), ("value", Dim3), ("rest", ctypes.c_uint * 13)]


class Configuration(ctypes.Structure):  # cudaLaunchConfig_t
    _fields_ = [("grid", Dim3), ("block", Dim3), ("dynamic_bytes", ctypes.c_size_t), ("stream", ctypes.c_void_p),
                ("attributes", ctypes.POINTER(Attribute)), ("count", ctypes.c_uint)]


def configuration(numbers: Sequence[int]) -> Configuration:
    """The launch that a question's numbers describe: the kernel, grid, block, dynamic bytes, flags, and the cluster (0: none)."""
    grid, block, cluster = (Dim3(*(side & 0xffffffff for side in numbers[k:k + 3])) for k in (1, 4, 9))
    attributes = (Attribute * 3)(Attribute(COOPERATIVE, 0, Dim3(numbers[8] & COOPERATIVE_FLAG)),
                                 Attribute(PROGRAMMATIC_STREAM_SERIALIZATION, 0, Dim3(numbers[8] & DEPENDENT_FLAG)), Attribute(CLUSTER_DIMENSION, 0, cluster))
    return Configuration(grid, block, numbers[7], None, attributes, 3 if any(numbers[9:]) else 2)


class Stream:
    """Whole messages over a pipe."""

    def __init__(self, reads: int, writes: int) -> None:
        self.reads, self.writes = os.fdopen(reads, "rb"), os.fdopen(writes, "wb")

    def read(self, count: int) -> bytes:
        data = self.reads.read(count)
        if len(data) < count:
            raise Ended
        return data

    def write(self, data: bytes) -> None:
        try:
            self.writes.write(data)
            self.writes.flush()
        except BrokenPipeError:
            raise Ended from None


class Device:
    """Answers the program's questions with the simulator."""

    def __init__(self, library: str, program: Any) -> None:
        self.cuda, self.program = ctypes.CDLL(library), program
        self.cuda.cudaGetErrorString.restype = self.cuda.cudaGetErrorName.restype = ctypes.c_char_p
        self.modules: list[ctypes.c_void_p] = []
        self.kernels: list[Kernel] = []
        self.allocations: dict[int, int] = {}  # address: bytes
        self.asked = self.launches = self.copied = 0  # the last: bytes that copies within the device read during a run
        self.first_call: Sequence[int] = ()  # the first call of launch of a run
        self.is_dependent = False  # a kernel of the run may begin before the previous one has ended
        self.called_again: set[tuple[int, ...]] = set()  # the numbers of the runs after which launch was called again
        self.repeated = 0  # launches by these calls, in addition to self.launches
        self.note = ""  # the program's first error
        self.over = ""  # the limit that it exceeded
        self.unsupported = ""  # what the program has used that is not simulated
        self.scratch = 0  # address of the memory that is kept between runs
        self.inputs: list[int] = []  # addresses of the last run's inputs, which a run with inputs of the same sizes reuses: a program must not know data by their address
        self.expected = None  # the launch that a contract prescribes: grid, block and dynamic bytes
        kinds = [self.load, self.kernel, self.variable, self.launch, self.allocate, self.release, self.fill, self.write, self.copy,
                 self.read_back, self.attribute, self.occupancy, self.kernel_attributes, self.set_kernel_attribute, self.properties,
                 self.last_error, self.peek_error, self.error_name, self.error_text, self.clusters]
        self.handlers = dict(enumerate(kinds, 1))

    def remember(self, note: str) -> None:
        self.note = self.note or note

    # ---- Each question's answer: an error, numbers, data

    def load(self, numbers: Sequence[int], data: bytes) -> Reply:
        module = ctypes.c_void_p()
        if self.cuda.cuInit(0) or self.cuda.cudaSetDevice(0) or len(data) < 16:
            return INVALID_VALUE, (), b""
        # A fat binary contains its own length, which must not exceed the received data.
        if struct.unpack_from("<Q", data, 8)[0] + 16 > len(data):
            return INVALID_VALUE, (), b""
        error = self.cuda.cuModuleLoadData(ctypes.byref(module), data)
        if error:
            return error, (), b""
        self.modules.append(module)
        return SUCCESS, (len(self.modules),), b""

    def kernel(self, numbers: Sequence[int], name: bytes) -> Reply:
        function = ctypes.c_void_p()
        if not 1 <= numbers[0] <= len(self.modules):
            return NOT_FOUND, (), b""
        error = self.cuda.cuModuleGetFunction(ctypes.byref(function), self.modules[numbers[0] - 1], name)
        if error:
            return error, (), b""
        places: list[tuple[int, int]] = []
        offset, size = ctypes.c_size_t(), ctypes.c_size_t()
        while not self.cuda.cudaFuncGetParamInfo(function, ctypes.c_size_t(len(places)), ctypes.byref(offset), ctypes.byref(size)):
            places.append((offset.value, size.value))
        self.cuda.cudaGetLastError()  # the end of the list is no error of the program
        self.kernels.append((function, places, name.decode(errors="replace")))
        return SUCCESS, (len(self.kernels),), b"".join(struct.pack("<II", *place) for place in places)

    def known_kernel(self, number: int) -> Kernel:
        return self.kernels[number - 1] if 1 <= number <= len(self.kernels) else (ctypes.c_void_p(), [], "")

    def variable(self, numbers: Sequence[int], name: bytes) -> Reply:
        address, size = ctypes.c_uint64(), ctypes.c_size_t()
        if not 1 <= numbers[0] <= len(self.modules):
            return NOT_FOUND, (), b""
        error = self.cuda.cuModuleGetGlobal_v2(ctypes.byref(address), ctypes.byref(size), self.modules[numbers[0] - 1], name)
        return error, (address.value, size.value), b""

    def launch(self, numbers: Sequence[int], packed: bytes) -> Reply:
        function, places, _ = self.known_kernel(numbers[0])
        if any(offset + size > len(packed) for offset, size in places):
            return INVALID_VALUE, (), b""
        buffer = ctypes.create_string_buffer(packed, len(packed) + 1)
        arguments = (ctypes.c_void_p * (len(places) + 1))(*(ctypes.addressof(buffer) + offset for offset, _ in places))
        error = self.cuda.cudaLaunchKernelExC(ctypes.byref(configuration(numbers)), function, arguments) or self.cuda.cudaPeekAtLastError()
        self.launches += 1
        self.is_dependent |= bool(numbers[8] & DEPENDENT_FLAG)
        if numbers[8] & OTHER_ATTRIBUTE_FLAG:
            self.unsupported = "its launches have other attributes than clusters, cooperation and programmatic stream serialisation, such as an event, whose order is not checked"
        if error:
            self.remember(f"a kernel failed, or was not launched: {self.cuda.cudaGetErrorString(error).decode()}")
        return error, (), b""

    def allocate(self, numbers: Sequence[int], data: bytes) -> Reply:
        return self.new_memory(numbers[0])

    def new_memory(self, count: int) -> tuple[int, tuple[int], bytes]:
        address = ctypes.c_uint64()
        if sum(self.allocations.values()) + count > MAX_BYTES:
            self.over = TOO_MUCH_MEMORY
            return OUT_OF_MEMORY, (0,), b""
        error = self.cuda.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(count))
        if not error and address.value:
            self.allocations[address.value] = count
        return error, (address.value,), b""

    def release(self, numbers: Sequence[int], data: bytes) -> Reply:
        self.allocations.pop(numbers[0], None)
        return self.cuda.cudaFree(ctypes.c_void_p(numbers[0])), (), b""

    def release_all(self, addresses: Iterable[int]) -> None:
        """Releases those that the program has not released itself."""
        for address in addresses:
            if address in self.allocations:
                self.release([address], b"")

    def is_device_memory(self, address: int) -> bool:
        return self.cuda.cuMemGetAddressRange_v2(None, None, ctypes.c_uint64(address)) == SUCCESS

    # The simulator rejects addresses outside of device memory.
    def fill(self, numbers: Sequence[int], data: bytes) -> Reply:
        address, value, count = numbers[:3]
        return self.cuda.cudaMemset(ctypes.c_void_p(address), ctypes.c_int(value & 0xff), ctypes.c_size_t(count)), (), b""

    def write(self, numbers: Sequence[int], data: bytes) -> Reply:
        return self.cuda.cudaMemcpy(ctypes.c_void_p(numbers[0]), data, ctypes.c_size_t(len(data)), TO_DEVICE), (), b""

    def copy(self, numbers: Sequence[int], data: bytes) -> Reply:
        to, source, count = numbers[:3]
        if not self.is_device_memory(source):
            return INVALID_VALUE, (), b""
        if not self.is_device_memory(to):
            return self.read_back(numbers, data)
        self.copied += count
        return self.cuda.cudaMemcpy(ctypes.c_void_p(to), ctypes.c_void_p(source), ctypes.c_size_t(count), ON_DEVICE), (), b""

    def read_back(self, numbers: Sequence[int], data: bytes) -> Reply:
        self.remember(READS_BACK)
        return NOT_SUPPORTED, (), b""

    def attribute(self, numbers: Sequence[int], data: bytes) -> Reply:
        value = ctypes.c_int()
        error = self.cuda.cudaDeviceGetAttribute(ctypes.byref(value), ctypes.c_int(numbers[0] & 0x7fffffff), 0)
        return error, (value.value & 0xffffffffffffffff,), b""

    def occupancy(self, numbers: Sequence[int], data: bytes) -> Reply:
        blocks, function = ctypes.c_int(), self.known_kernel(numbers[0])[0]
        error = self.cuda.cudaOccupancyMaxActiveBlocksPerMultiprocessor(ctypes.byref(blocks), function, ctypes.c_int(numbers[1] & 0x7fffffff),
                                                                        ctypes.c_size_t(numbers[2]))
        return error, (blocks.value,), b""

    def clusters(self, numbers: Sequence[int], data: bytes) -> Reply:
        clusters = ctypes.c_int()
        error = self.cuda.cudaOccupancyMaxActiveClusters(ctypes.byref(clusters), self.known_kernel(numbers[0])[0], ctypes.byref(configuration(numbers)))
        return error, (clusters.value & 0xffffffffffffffff,), b""

    def kernel_attributes(self, numbers: Sequence[int], data: bytes) -> Reply:
        space = ctypes.create_string_buffer(ATTRIBUTES_SPACE)
        return self.cuda.cudaFuncGetAttributes(space, self.known_kernel(numbers[0])[0]), (), space.raw

    def set_kernel_attribute(self, numbers: Sequence[int], data: bytes) -> Reply:
        function = self.known_kernel(numbers[0])[0]
        return self.cuda.cudaFuncSetAttribute(function, ctypes.c_int(numbers[1] & 0x7fffffff), ctypes.c_int(numbers[2] & 0x7fffffff)), (), b""

    def properties(self, numbers: Sequence[int], data: bytes) -> Reply:
        space = ctypes.create_string_buffer(PROPERTIES_SPACE)
        name = "cudaGetDeviceProperties_v2" if hasattr(self.cuda, "cudaGetDeviceProperties_v2") else "cudaGetDeviceProperties"
        return getattr(self.cuda, name)(space, 0), (), space.raw

    def last_error(self, numbers: Sequence[int], data: bytes) -> Reply:
        return self.cuda.cudaGetLastError(), (), b""

    def peek_error(self, numbers: Sequence[int], data: bytes) -> Reply:
        return self.cuda.cudaPeekAtLastError(), (), b""

    def error_name(self, numbers: Sequence[int], data: bytes) -> Reply:
        return SUCCESS, (), self.cuda.cudaGetErrorName(ctypes.c_int(numbers[0] & 0x7fffffff))

    def error_text(self, numbers: Sequence[int], data: bytes) -> Reply:
        return SUCCESS, (), self.cuda.cudaGetErrorString(ctypes.c_int(numbers[0] & 0x7fffffff))

    # ---- Tasks for the program

    def serve(self) -> int:
        """Answers questions until the program asks for its next task; returns the result of its last one."""
        while True:
            kind, count, *numbers = QUESTION.unpack(self.program.read(QUESTION.size))
            self.asked += 1
            if self.asked > MAX_QUESTIONS:
                self.over = TOO_MANY_QUESTIONS
            if count > MAX_BYTES or self.asked > MAX_QUESTIONS or kind != NEXT_TASK and kind not in self.handlers:
                raise Ended
            data = self.program.read(count)
            if kind == NEXT_TASK:
                return ctypes.c_longlong(numbers[0]).value
            if self.expected:
                self.compare(kind, numbers)
            error, values, back = self.handlers[kind](numbers, data)
            self.answer(error, values, back)

    def compare(self, kind: int, numbers: list[int]) -> None:
        """Remembers whether the program, during a contract's launch, asks for something else: its host code may use other memory, or another grid."""
        allowed = kind in (KERNEL, LAST_ERROR, PEEK_ERROR, ERROR_NAME, ERROR_TEXT) or kind == START and self.launches == 0 and numbers[1:12] == self.expected
        if not allowed:
            self.remember("the program does more than the launch of the contract, or launches another grid")

    def answer(self, error: int, values: Sequence[int], data: bytes = b"") -> None:
        self.program.write(ANSWER.pack(error, len(data), *values, *[0] * (NUMBERS - len(values))) + data)

    def call(self, *task: int) -> int:
        """Gives the program a task; returns its result."""
        self.answer(SUCCESS, task)
        result = self.serve()
        self.expected = None
        return result

    def is_broken(self) -> bool:
        """Whether a kernel has failed, after which no other runs. Other errors are cleared before the next run."""
        self.cuda.cudaGetLastError()
        return bool(self.cuda.cudaDeviceSynchronize())

    def words(self, address: int, count: int) -> bytes:
        """Reads device memory; unreadable bytes are returned as uninitialised ones."""
        data = ctypes.create_string_buffer(UNINITIALISED * (count // FLOAT_BYTES), max(count, 1))
        self.cuda.cudaMemcpy(data, ctypes.c_void_p(address), ctypes.c_size_t(count), TO_HOST)
        return data.raw[:count]

    def look_at(self, sums: bytes, number: int) -> None:
        """Records which sums of a pass are uninitialised."""
        words = [sums[k:k + FLOAT_BYTES] for k in range(0, len(sums), FLOAT_BYTES)]
        empty = [k for k, word in enumerate(words) if word == UNINITIALISED]
        if empty:
            more = f" and {len(empty) - 1} more" if empty[1:] else ""
            self.remember(f"nothing was written to out[{empty[0]}]{more}, of {len(words)} in pass {number}")
        for k, word in enumerate(words):
            if math.isnan(*FLOAT.unpack(word)):
                self.remember(f"out[{k}] is NaN after pass {number}, although no element is NaN: it was computed from an uninitialised value")

    def with_data(self, arrays: list[bytes]) -> list[int]:
        """The addresses of memory with these contents, of exactly their sizes."""
        if list(map(self.allocations.get, self.inputs)) != list(map(len, arrays)):
            self.release_all(self.inputs)
            self.inputs = [self.new_memory(len(data))[1][0] for data in arrays]
        for address, data in zip(self.inputs, arrays):
            self.cuda.cudaMemcpy(ctypes.c_void_p(address), data, ctypes.c_size_t(len(data)), TO_DEVICE)
        return self.inputs

    def run(self, task: dict[str, Any], data: bytes) -> list[bytes]:
        """A run's outputs, as bytes. All its memory has exactly the right size, and uninitialised elements are NaN."""
        self.launches, self.copied, self.note, self.over, self.repeated, self.is_dependent = 0, 0, "", "", 0, False
        interleaved, is_random, seed = task["order"]
        self.cuda.sim_set_orders(bool(interleaved), bool(is_random), ctypes.c_uint64(seed))
        ours: list[int] = []  # addresses of its sums or outputs
        ends = list(itertools.accumulate(task["inputs"]))
        arrays = [data[end - count:end] for end, count in zip(ends, task["inputs"])]
        inputs = self.with_data(arrays)
        try:
            outputs = self.reduced(task, inputs[0], ours) if task["passes"] else self.launched(task, inputs, ours)
            outputs = [] if self.has_changed(zip(inputs, arrays)) else outputs
            if self.is_dependent and not (self.note or self.over):
                self.call_again(tuple(task["numbers"]))
            return outputs
        finally:
            self.release_all(ours)

    def call_again(self, numbers: tuple[int, ...]) -> None:
        """Calls launch twice without a copy in between, once for each size: the second call's kernels may begin before the first call's have ended."""
        if numbers in self.called_again:
            return
        self.called_again.add(numbers)
        before = self.launches
        for _ in range(2):
            self.call(LAUNCH, *self.first_call)
        self.repeated, self.launches = self.launches - before, before

    def has_changed(self, inputs: Iterable[tuple[int, bytes]]) -> bool:
        """Remembers whether the program has changed an input. inputs: their addresses and original contents."""
        for address, data in inputs:
            now = self.words(address, len(data))
            if now != data and not self.is_broken():
                self.remember("the program changed an input array; it may only read it")
        return bool(self.note)

    def reduced(self, task: dict[str, Any], begin: int, ours: list[int]) -> list[bytes]:
        """A whole reduction of the array at `begin`, pass by pass until one value is left. ours: receives the addresses of the sums."""
        (left,), array, passes = task["numbers"], begin + task["before"] * FLOAT_BYTES, 0
        while (left > 1 or passes == 0) and passes < MAX_PASSES and not self.note:
            count = self.call(COUNT, left)
            if not 1 <= count <= max(left - 1, 1):
                self.remember(f"partial_count({left}) is {count}; a pass must leave at least 1 sum, and fewer sums than elements")
                return []
            _, (sums,), _ = self.new_memory(count * FLOAT_BYTES)
            ours.append(sums)
            before = self.launches
            self.first_call = self.first_call if passes else (left, array, sums)
            self.call(LAUNCH, left, array, sums)
            passes += 1
            if self.launches == before and left > 1:
                self.remember("launch started no kernel")
            data = self.words(sums, count * FLOAT_BYTES)
            self.look_at(data, passes)
            array, left = sums, count
        if left > 1:
            self.remember(f"{MAX_PASSES} passes leave {left} sums")
        return [data[:FLOAT_BYTES]]

    def launched(self, task: dict[str, Any], inputs: list[int], ours: list[int]) -> list[bytes]:
        """A single call of launch for the arrays, with scratch memory if the task has some. ours: receives the addresses of the outputs."""
        scratch = self.scratch_for(task) if "scratch" in task else 0
        outputs = [self.new_memory(count)[1][0] for count in task["outputs"]]
        ours += outputs
        for k in task.get("zeroed", []):
            self.fill([outputs[k], 0, task["outputs"][k]], b"")
        if not (self.note or self.over):
            self.expected = task.get("launch")
            self.first_call = (*task["numbers"], *inputs, *outputs, scratch)
            self.call(LAUNCH, *self.first_call)
            if self.launches == 0:
                self.remember("launch started no kernel")
        return [] if self.note or self.over else [self.words(*output) for output in zip(outputs, task["read"])]

    def scratch_for(self, task: dict[str, Any]) -> int:
        """Scratch memory of scratch_count elements: all bits set, or the previous run's contents."""
        if task["scratch"] == "kept":
            return self.scratch
        self.release_all([self.scratch])
        count = self.call(COUNT, task["numbers"][0])
        if count < 0:
            self.remember(f"scratch_count({task['numbers'][0]}) is {count}")
        _, (self.scratch,), _ = self.new_memory(max(count, 1) * FLOAT_BYTES)
        self.fill([self.scratch, 0xff, max(count, 1) * FLOAT_BYTES], b"")
        return self.scratch


def main() -> None:
    if len(sys.argv) != 4:
        sys.exit("check_device.py: check.py starts it")
    library, reads, writes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    # Discard kernels' output: stdout is the connection to the judge.
    judge = Stream(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    device = Device(library, Stream(reads, writes))
    try:
        device.serve()
        while task := judge.reads.readline():
            task = json.loads(task)
            outputs = device.run(task, judge.read(task["bytes"]))
            answer = {"outputs": list(map(len, outputs)), "note": device.note, "launches": device.launches, "repeated": device.repeated, "copied": device.copied,
                      "broken": device.is_broken(), "over": device.over, "unsupported": device.unsupported}
            judge.write(json.dumps(answer).encode() + b"\n" + b"".join(outputs))
        device.answer(SUCCESS, (STOP,))
    except Ended:
        judge.write(json.dumps({"ended": True, "broken": True, "over": device.over, "note": device.note}).encode() + b"\n")
    device.release_all(list(device.allocations))  # memory that the program keeps to its end is no finding


if __name__ == "__main__":
    main()
