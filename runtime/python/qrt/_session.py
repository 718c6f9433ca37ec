# SPDX-License-Identifier: Apache-2.0
"""A model ready to run."""
from __future__ import annotations

import ctypes
import weakref
from _thread import allocate_lock
from functools import partial

from . import _library
from ._buffers import ALIGNMENT, empty, extent
from ._counts import count
from ._dims import dim_array, sizes_of
from ._errors import CancelledError, InvalidArgumentError, from_status
from ._library import Handle, call, lib
from ._html import table
from ._runs import Runner
from ._tensors import Tensor, TensorInfo, Tensors, numpy, read_infos
from ._threads import default_threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Mapping, NoReturn, Optional, Tuple

    from ._model import Model
    from ._pool import Pool


def _indices(tensors: Tensors[TensorInfo], arrays: Optional[Mapping[str, Any]]) -> list[int]:
    """Which of the tensors have an array of the caller's from the start."""
    return [i for i, t in enumerate(tensors) if arrays and arrays.get(t.name) is not None]


class Session:
    """A model ready to run at certain sizes, with its memory. Made by Model.session().

    One thread at a time may run it: others get an error. Threads that want to run a model at the
    same time make a session each; they do run at the same time, since a run does not hold the
    interpreter's lock.
    """

    def __init__(self, model: Model, batch: Optional[int] = None, threads: Optional[int] = None,
                 isa: Optional[str] = None, profile: bool = False, keep_all: bool = False,
                 max_memory: Optional[int] = None, pool: Optional[Pool] = None,
                 inputs: Optional[Mapping[str, Any]] = None,
                 outputs: Optional[Mapping[str, Any]] = None,
                 max_dims: Optional[Mapping[str, int]] = None, dims: Optional[Mapping[str, int]] = None,
                 private_plans: bool = False):
        options = _library.SessionOptions()
        if pool is not None:
            options.pool = pool._handle.value
        options.batch = count("batch", batch)
        given, most = dim_array(dims), dim_array(max_dims)
        options.dims, options.dim_count = given, len(given)
        options.max_dims, options.max_dim_count = most, len(most)
        options.private_plans = private_plans
        options.threads = count("threads", threads)
        if pool is None and options.threads == 0:
            options.threads = default_threads()
        options.isa = isa.encode() if isa else None
        options.profile = profile
        options.keep_all = keep_all
        options.max_memory = count("max_memory", max_memory)
        external_inputs = _indices(model.inputs, inputs)
        external_outputs = _indices(model.outputs, outputs)
        options.external_inputs = (ctypes.c_size_t * len(external_inputs))(*external_inputs)
        options.external_input_count = len(external_inputs)
        options.external_outputs = (ctypes.c_size_t * len(external_outputs))(*external_outputs)
        options.external_output_count = len(external_outputs)
        created = ctypes.c_void_p()
        call(lib.qrt_session_create, model._handle.value, ctypes.byref(options),
             ctypes.byref(created))
        assert created.value is not None
        handle = Handle(created.value, lib.qrt_session_destroy)
        self._handle: Optional[Handle] = handle
        self._keep_all = keep_all
        self._lock = allocate_lock()
        self._pointer: Optional[ctypes.c_void_p] = ctypes.c_void_p(handle.value)
        self._error_message = _library.ErrorMessage()
        self._error = ctypes.byref(self._error_message)
        pointer, error = self._pointer, self._error
        self._runner = Runner(partial(lib.qrt_session_run, pointer, error),
                              partial(lib.qrt_session_cancel, pointer))
        np = numpy()
        self._array_type = np.ndarray if np is not None else None
        self._model_inputs = model.inputs
        self._open_dims = set(model.dims)
        self._counts = {"input": len(model.inputs), "output": len(model.outputs)}
        self._memories: List[Any] = []  # of tensors, which are not to be seen when the memory becomes other
        self._read_infos()
        self._external = {("input", i) for i in external_inputs} | \
            {("output", i) for i in external_outputs}
        self._bound: dict[tuple[str, int], Any] = {}  # what keeps the caller's memory
        self._bind_all("input", inputs)
        self._bind_all("output", outputs)
        self._look_up()

    def _read_infos(self) -> None:
        handle = self._open().value
        self._infos = {
            role: read_infos(getattr(lib, f"qrt_session_{role}_info"), handle, n)
            for role, n in self._counts.items()
        }

    def _look_up(self) -> None:
        """What a call of run() needs, looked up once."""
        np = numpy()
        self.inputs, self.outputs = self._tensors("input"), self._tensors("output")
        self._input_views = {t.name: t.view() for t in self.inputs}
        self._output_views = {t.name: t.view() for t in self.outputs}
        # A view's own copy() is the quickest; memoryviews have none, nor are packed bytes elements.
        self._copies = [(t.name, t.copy if np is None or t._type.packed else
                         self._output_views[t.name].copy) for t in self.outputs]
        given = [t for i, t in enumerate(self.inputs) if ("input", i) not in self._bound]
        self._given = {t.name for t in given}
        self._quick = {t.name: (self._input_views[t.name], t.shape, self._input_views[t.name].dtype)
                       for t in given if np is not None and not t._type.packed}

    def _tensors(self, role: str) -> Tensors[Tensor]:
        handle = self._open()
        data = getattr(lib, f"qrt_session_{role}_data")
        tensors = []
        for i, (name, info) in enumerate(self._infos[role]):
            bound = self._bound.get((role, i))
            tensors.append(Tensor(name, info, data(handle.value, i), handle if bound is None else bound,
                                  role == "input" and bound is None))
            if bound is None:
                self._memories.append(weakref.ref(tensors[-1]._memory))
        return Tensors(tensors)

    def _forget(self) -> None:
        """Leaves the tensors that _look_up() makes."""
        self.inputs = self.outputs = Tensors[Tensor]()
        self._input_views = self._output_views = self._quick = {}
        self._copies = []

    def reshape(self, dims: Optional[Mapping[str, int]] = None, **sizes: int) -> None:
        """Goes on at other sizes of the model's open dimensions, those that are not named staying as they
        are: session.reshape(seq=17). Inputs are zeros until they are set again; what the model keeps
        between runs stays where its shape does.

        Arrays that are bound stay so where their size does. In the place of one whose size changes comes
        the session's own memory, or, where the session has none, an array of its own.
        No view of the session's memory may be left, such as input(), output() and run(copy=False) give: a
        BufferError otherwise. On failure the session is as it was.
        """
        if not self._lock.acquire(False):
            raise RuntimeError("another thread runs this session: make one for each thread")
        try:
            self._reshape({**(dims or {}), **sizes})
        finally:
            self._lock.release()

    def _reshape(self, sizes: Mapping[str, int]) -> None:
        handle = self._open()
        given = dim_array(sizes)
        try:
            self._forget()
            self._memories = [memory for memory in self._memories if memory() is not None]
            if self._memories:  # where objects are not counted, one may only seem to be left
                import gc
                gc.collect()
                if any(memory() is not None for memory in self._memories):
                    raise BufferError("an array or view of the session's memory is still in use, which a reshape "
                                      "would take away: delete it, or take copies (run() gives such)")
            self._memories = []
            before = {key: TensorInfo(*self._infos[key[0]][key[1]]).shape for key in self._bound}
            call(lib.qrt_session_reshape, handle.value, given, len(given))
            self._read_infos()
            for role, i in list(before):
                info = TensorInfo(*self._infos[role][i])
                if info.shape == before[role, i]:
                    continue
                del self._bound[role, i]
                if (role, i) in self._external:
                    shape = (info.nbytes,) if info._type.packed else info.shape
                    self._bind(role, info.name, empty(shape, "uint8" if info._type.packed else info.dtype))
        finally:
            self._look_up()

    def _reshape_for(self, inputs: Mapping[str, Any]) -> None:
        """Takes the sizes of open dimensions that arrays have."""
        sizes: Dict[str, int] = {}
        names: Dict[str, str] = {}
        for name, value in inputs.items():
            shape = getattr(value, "shape", None)
            if shape is None or name not in self._given:
                continue
            found = sizes_of(tuple(shape), self._model_inputs[name])
            for dim, size in (found or {}).items():
                if sizes.setdefault(dim, size) != size:
                    raise ValueError(f"{dim!r} is {size} in input {name!r}, but {sizes[dim]} in {names[dim]!r}")
                names.setdefault(dim, name)
        sizes = {dim: size for dim, size in sizes.items() if dim in self._open_dims}
        if any(self.dims[dim] != size for dim, size in sizes.items()):
            self._reshape(sizes)

    @property
    def dims(self) -> Dict[str, int]:
        """The sizes of the model's open dimensions, by name."""
        info = self._info()
        return {_library.text(info.dims[i].name): info.dims[i].value for i in range(info.dim_count)}

    def bind(self, inputs: Optional[Mapping[str, Any]] = None,
             outputs: Optional[Mapping[str, Any]] = None) -> None:
        """Runs read inputs from arrays of the caller's, or write outputs there, from now on, without
        a copy. None instead of an array: the session's own memory again.

        Arrays have the tensor's type and shape, are contiguous and aligned to 64 bytes: empty() makes
        such, and any part of larger memory may do. Where no 64 more bytes of that memory stand behind
        an array, and a page ends with it, it may be copied at each run (qrt.h says when). The session keeps
        them. Inputs are not written to; do not write to them during a run. May be called before every run, with
        another frame each time; run() then takes only the other inputs.
        """
        if not self._lock.acquire(False):
            raise RuntimeError("another thread runs this session: make one for each thread")
        try:
            self._bind_all("input", inputs)
            self._bind_all("output", outputs)
            self._look_up()
        finally:
            self._lock.release()

    def _bind_all(self, role: str, arrays: Optional[Mapping[str, Any]]) -> None:
        for name, array in (arrays or {}).items():
            self._bind(role, name, array)

    def _bind(self, role: str, name: str, array: Any) -> None:
        handle = self._open()
        names = [n for n, _ in self._infos[role]]
        if name not in names:
            raise ValueError(f"no {role} {name!r}: the model's are {', '.join(map(repr, names))}")
        i = names.index(name)
        bind = getattr(lib, f"qrt_session_bind_{role}")
        if array is None:
            if (role, i) in self._external:
                raise ValueError(f"{role} {name!r}: the session was made without memory for it")
            call(bind, handle.value, i, None, 0)
            self._bound.pop((role, i), None)
            return
        TensorInfo(name, self._infos[role][i][1]).check_bindable(array, role)
        address, capacity = extent(array)
        if address % ALIGNMENT != 0:
            info = TensorInfo(name, self._infos[role][i][1])
            raise InvalidArgumentError(
                f"{role} {name!r} takes memory aligned to {ALIGNMENT}, this is {address % ALIGNMENT} bytes behind "
                f"such an address: qrt.empty({info.shape}, {info.dtype!r}) makes an array that serves")
        call(bind, handle.value, i, address, capacity)
        self._bound[role, i] = array

    def _open(self) -> Handle:
        if self._handle is None:
            raise ValueError("the session is closed")
        return self._handle

    def run(self, inputs: Optional[Mapping[str, Any]] = None, *, copy: bool = True) -> dict[str, Any]:
        """Runs the model once and returns its outputs by name.

        inputs  all of them by name: arrays of the input's type and shape (nothing is converted
                silently), or its bytes. Without: what stands in the session's memory, input(). Arrays
                in which open dimensions beside the batch have other sizes reshape() the session first.
        copy    False: the outputs are views of the session's memory, as output() gives them.

        Raises OutOfRangeError for an index among the inputs that its table does not have: what the model
        keeps between runs is then as before.
        """
        if not self._lock.acquire(False):
            raise RuntimeError("another thread runs this session: make one for each thread")
        try:
            if self._pointer is None:
                self._open()
            if inputs is not None:
                if not hasattr(inputs, "items"):
                    self._refuse_nameless(inputs)
                if len(inputs) != len(self._given):
                    self._refuse_missing(inputs)
                if self._open_dims and self._open_dims != {"batch"} and not self._fit(inputs):
                    self._reshape_for(inputs)
                quick = self._quick
                for name, value in inputs.items():
                    if type(value) is self._array_type and name in quick:
                        view, shape, dtype = quick[name]
                        if value.dtype is dtype and value.shape == shape:
                            view[...] = value
                            continue
                    self._assign(name, value)
            status = self._runner.run()
            if status:
                raise from_status(status, _library.text(self._error_message.message))
            if not copy:
                return dict(self._output_views)
            return {name: copied() for name, copied in self._copies}
        finally:
            self._lock.release()

    def _fit(self, inputs: Mapping[str, Any]) -> bool:
        """Whether all arrays have the shapes that the session has."""
        shapes = {t.name: t.shape for t in self.inputs}
        return all(tuple(getattr(value, "shape", ()) or shapes[name]) == shapes[name]
                   for name, value in inputs.items() if name in shapes)

    def cancel(self) -> None:
        """From another thread: the run in progress, or else the next one, ends with CancelledError. Its
        outputs are of no use; inputs, and what the model keeps between runs, are as before it."""
        lib.qrt_session_cancel(self._open().value)

    async def run_async(self, inputs: Optional[Mapping[str, Any]] = None, *,
                        copy: bool = True) -> Dict[str, Any]:
        """As run(), on a thread of the event loop's executor. Where the task is cancelled, so is the run."""
        import asyncio
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(None, partial(self.run, inputs, copy=copy))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            if not work.done():
                self.cancel()
                await asyncio.wait([work])
                if not isinstance(work.exception(), CancelledError):
                    self._runner.forget_cancel(0)
            raise

    def _assign(self, name: str, value: Any) -> None:
        if name not in self.inputs.names():
            names = ", ".join(map(repr, self.inputs.names()))
            raise ValueError(f"no input {name!r}: the model's are {names}")
        tensor = self.inputs[name]
        if name not in self._given:
            raise ValueError(f"input {name!r} is bound to an array, which is not written to")
        tensor.assign(value)

    def _refuse_nameless(self, inputs: Any) -> None:
        example = ", ".join(f"{name!r}: array" for name in self.inputs.names())
        raise TypeError(f"run() takes a dict of arrays by name, {{{example}}}, not "
                        f"{type(inputs).__name__}")

    def _refuse_missing(self, inputs: Mapping[str, Any]) -> None:
        for name in self._given:
            if name not in inputs:
                raise ValueError(f"input {name!r} is missing: give all, or none to run on what "
                                 "stands in the session's memory")
        for name in inputs:
            self._assign(name, inputs[name])  # says which the model does not have

    def input(self, name: str) -> Any:
        """The session's own memory of an input, to write to: numpy's array, or a memoryview where
        there is no numpy. Its content survives runs."""
        self._open()
        return self._input_views[self.inputs[name].name]

    def output(self, name: str) -> Any:
        """The session's own memory of an output, read-only: the result of the last run."""
        self._open()
        return self._output_views[self.outputs[name].name]

    def count(self, name: str) -> int:
        """How many entries of an output the last run has filled: boxes that NonMaxSuppression keeps
        (rows), elements that NonZero finds (columns). Behind them the output holds -1. Any other output
        is filled as a whole."""
        names = [n for n, _ in self._infos["output"]]
        return int(lib.qrt_session_output_count(self._open().value,
                                                names.index(self.outputs[name].name)))

    def reset(self) -> None:
        """What the model keeps between runs (states of recurrent layers) takes its initial value."""
        lib.qrt_session_reset(self._open().value)

    @property
    def states(self) -> Tensors[TensorInfo]:
        """What the model keeps between runs: names, types and shapes, without the memory."""
        handle = self._open().value
        infos = read_infos(lib.qrt_session_state_info, handle, lib.qrt_session_state_count(handle))
        return Tensors(TensorInfo(name, info) for name, info in infos)

    def get_state(self) -> Dict[str, bytes]:
        """The bytes of all states by name, for set_state() of this or another session of the same model at the
        same sizes: what the last run that did not fail has left."""
        return self._with_states(lambda handle, infos: {
            name: self._read_state(handle, i, info.bytes) for i, (name, info) in enumerate(infos)})

    def set_state(self, states: Mapping[str, Any]) -> None:
        """Gives states their bytes for the next run; those that are not named stay as they are. Takes bytes, or
        what has such, of the state's size. On failure all states are as they were."""
        self._with_states(lambda handle, infos: self._write_states(handle, infos, states))

    def _with_states(self, use: Any) -> Any:
        if not self._lock.acquire(False):
            raise RuntimeError("another thread runs this session: make one for each thread")
        try:
            handle = self._open().value
            return use(handle, read_infos(lib.qrt_session_state_info, handle,
                                          lib.qrt_session_state_count(handle)))
        finally:
            self._lock.release()

    @staticmethod
    def _read_state(handle: int, i: int, size: int) -> bytes:
        memory = ctypes.create_string_buffer(size)
        call(lib.qrt_session_get_state, handle, i, memory, size)
        return memory.raw

    @staticmethod
    def _write_states(handle: int, infos: List[Any], states: Mapping[str, Any]) -> None:
        names = [name for name, _ in infos]
        given: List[Tuple[int, bytes]] = []
        for name, value in states.items():
            if name not in names:
                raise ValueError(f"no state {name!r}: the model's are {', '.join(map(repr, names))}")
            content, expected = memoryview(value).tobytes(), infos[names.index(name)][1].bytes
            if len(content) != expected:
                raise ValueError(f"state {name!r} takes {expected} bytes, not {len(content)}")
            given.append((names.index(name), content))
        for i, content in given:
            call(lib.qrt_session_set_state, handle, i, content, len(content))

    @property
    def threads(self) -> int:
        """Threads that share the work of a run, the calling one among them. In a child of a fork a
        session that was made before it has one, a closed one has none."""
        return 0 if self._handle is None else int(self._info().threads)

    def _info(self) -> _library.SessionInfo:
        info = _library.SessionInfo()
        lib.qrt_session_get_info(self._open().value, ctypes.byref(info))
        return info

    @property
    def memory(self) -> int:
        """Bytes the session holds, without the model's own."""
        return int(self._info().memory)

    @property
    def shared_memory(self) -> int:
        """The bytes of `memory` that exist once for all sessions of the model with equal options: the
        plan and its tables, such as transformed weights."""
        return int(self._info().shared_memory)

    def profile(self) -> list[dict[str, Any]]:
        """The operators as they run: name, type, source_op, kernel, level, macs, bytes,
        constant_bytes, runs_in, and in sessions with profile=True total_ns and runs since the last
        profile_reset(). qrt.h says what each is."""
        handle = self._open().value
        operators = []
        for i in range(lib.qrt_session_op_count(handle)):
            info = _library.OpInfo()
            lib.qrt_session_op_info(handle, i, ctypes.byref(info))
            values = ((name, getattr(info, name)) for name, _ in info._fields_[1:])
            operators.append({name: _library.text(value) if isinstance(value, bytes) else value
                              for name, value in values})
        return operators

    def profile_reset(self) -> None:
        lib.qrt_session_profile_reset(self._open().value)

    def tensors(self) -> Tensors[Tensor]:
        """With keep_all=True: what every operator wrote, in the order of execution, in qrt's order
        of dimensions."""
        handle = self._open()
        if not self._keep_all:
            raise ValueError("tensors() needs a session with keep_all=True")
        result = []
        for i in range(lib.qrt_session_tensor_count(handle.value)):
            info, data = _library.TensorInfo(), ctypes.c_void_p()
            lib.qrt_session_tensor(handle.value, i, ctypes.byref(info), ctypes.byref(data))
            result.append(Tensor(_library.text(info.name), info, data.value or 0, handle, False))
            self._memories.append(weakref.ref(result[-1]._memory))
        return Tensors(result)

    def close(self) -> None:
        """Gives the memory back as soon as no view of it is left."""
        with self._lock:
            self._handle = self._pointer = None
            self._forget()
            self._bound = {}

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _repr_html_(self) -> str:
        if self._handle is None:
            return table(repr(self)[1:-1], [])
        rows: List[Tuple[str, ...]] = [
            ("isa", _library.text(self._info().isa)), ("threads", str(self.threads)),
            ("memory", f"{self.memory:,} bytes")]
        rows += [("input", *t._cells()) for t in self.inputs]
        rows += [("output", *t._cells()) for t in self.outputs]
        return table("qrt.Session", rows)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a session cannot be pickled: send the model, and make a session of it there")

    def __repr__(self) -> str:
        if self._handle is None:
            return "<qrt.Session, closed>"
        return f"<qrt.Session of {self.threads} threads: {self.inputs} -> {self.outputs}>"
