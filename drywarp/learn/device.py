"""The device of make learn: runs kernels from a PTX file on the simulator, with arrays that the judge sends, and returns the arrays.

judge.py starts it in a sandbox: device.py LIBRARY PTX PRINTED. Each input line is a launch, as JSON; the bytes of its arrays follow. Kernel output goes to
the file PRINTED."""

from __future__ import annotations

import ctypes
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "judge"))  # in the sandbox nothing above drywarp/ can be read
from check_device import SUCCESS, TO_DEVICE, TO_HOST, Device, Dim3, Stream  # type: ignore[import-not-found]  # noqa: E402


def loaded(device: Any, text: bytes) -> int:
    """Loads the kernels of a PTX text; returns CUDA's error."""
    module = ctypes.c_void_p()
    error = device.cuda.cuInit(0) or device.cuda.cudaSetDevice(0) or device.cuda.cuModuleLoadData(ctypes.byref(module), text + b"\0")
    device.modules.append(module)
    return error


def arguments(device: Any, launch: dict[str, Any], judge: Any, memory: list[tuple[int, int]]) -> Iterator[bytes]:
    """The kernel's arguments as bytes, in order. Each array gets an allocation of exactly its size, which is appended to `memory`."""
    for argument in launch["arguments"]:
        if "value" in argument:
            yield argument["value"].to_bytes(8, "little", signed=True)
            continue
        _, (address,), _ = device.new_memory(argument["bytes"])
        memory.append((address, argument["bytes"]))
        if argument["filled"]:
            device.cuda.cudaMemcpy(ctypes.c_void_p(address), judge.read(argument["bytes"]), ctypes.c_size_t(argument["bytes"]), TO_DEVICE)
        yield address.to_bytes(8, "little")


def run(device: Any, launch: dict[str, Any], judge: Any) -> tuple[str, list[int], bytes]:
    """Launches once; returns the error ("" for none), the arrays' addresses and all arrays' bytes."""
    memory: list[tuple[int, int]] = []
    error, (number,), _ = device.kernel([1], launch["kernel"].encode())
    slots = device.known_kernel(number)[1]
    values = list(arguments(device, launch, judge, memory))
    if error:
        return "the simulator has not loaded this kernel", [], b""
    packed = bytearray(max(offset + size for offset, size in slots))
    for (offset, size), value in zip(slots, values):
        packed[offset:offset + size] = value[:size]
    buffer = ctypes.create_string_buffer(bytes(packed))
    pointers = (ctypes.c_void_p * len(slots))(*(ctypes.addressof(buffer) + offset for offset, _ in slots))
    error = device.cuda.cudaLaunchKernel(device.known_kernel(number)[0], Dim3(launch["grid"], 1, 1), Dim3(launch["block"], 1, 1), pointers,
                                         ctypes.c_size_t(0), None) or device.cuda.cudaDeviceSynchronize()
    wrong = f"the kernel failed: {device.cuda.cudaGetErrorString(error).decode()}" if error != SUCCESS else ""
    back = b"".join(bytes_of(device, address, count) for address, count in memory)
    device.release_all([address for address, _ in memory])
    return wrong, [address for address, _ in memory], back


def bytes_of(device: Any, address: int, count: int) -> bytes:
    data = ctypes.create_string_buffer(count)
    device.cuda.cudaMemcpy(data, ctypes.c_void_p(address), ctypes.c_size_t(count), TO_HOST)
    return data.raw


def main() -> None:
    if len(sys.argv) != 4:
        sys.exit("device.py: judge.py starts it")
    judge = Stream(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(os.open(sys.argv[3], os.O_WRONLY | os.O_CREAT), 1)
    device = Device(sys.argv[1], None)
    error = loaded(device, Path(sys.argv[2]).read_bytes())
    refused = f"the simulator does not load it: {device.cuda.cudaGetErrorString(error).decode()}"
    while task := judge.reads.readline():
        wrong, addresses, back = run(device, json.loads(task), judge) if error == SUCCESS else (refused, [], b"")
        judge.write(json.dumps({"wrong": wrong, "addresses": addresses, "bytes": len(back)}).encode() + b"\n" + back)


if __name__ == "__main__":
    main()
