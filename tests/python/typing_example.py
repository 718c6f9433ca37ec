# SPDX-License-Identifier: Apache-2.0
"""A program that mypy --strict checks: every public name of the package with the type that it has."""
import asyncio
from typing import Any, Dict, List, Optional, Tuple

import qrt


def describe(model: qrt.Model) -> List[str]:
    inputs: "qrt.Tensors[qrt.TensorInfo]" = model.inputs
    first: qrt.TensorInfo = inputs[0]
    by_name: qrt.TensorInfo = inputs[first.name]
    some: Tuple[qrt.TensorInfo, ...] = inputs[0:1]
    shapes: List[Tuple[int, ...]] = [t.shape for t in some]
    metadata: Dict[str, str] = model.metadata
    reference: Optional[str] = model.reference
    level: qrt.Level = model.level
    batch: int = model.default_batch
    return [by_name.dtype, str(shapes), metadata.get("name", ""), reference or "", level.name, str(batch)]


def run(model: qrt.Model, inputs: Dict[str, Any]) -> Dict[str, Any]:
    pool = qrt.Pool(0)
    threads: int = pool.threads
    with model.session(batch=1, pool=pool, isa=qrt.isas()[0]) as session:
        session.bind({name: qrt.empty(session.inputs[name].shape, session.inputs[name].dtype) for name in inputs})
        session.bind({name: None for name in inputs})
        outputs: Dict[str, Any] = session.run(inputs)
        again: Dict[str, Any] = asyncio.run(session.run_async(inputs, copy=True))
        tensor: qrt.Tensor = session.outputs[0]
        view: memoryview = tensor.memoryview()
        real: Any = tensor.dequantize(outputs[tensor.name])
        memory: int = session.memory
        profile: List[Dict[str, Any]] = session.profile()
        session.cancel()
        try:
            session.run()
        except qrt.CancelledError as error:
            error_text: str = str(error)
    return {"again": again, "sizes": (threads, view.nbytes, memory, len(profile)), "real": real, "error": error_text}


if __name__ == "__main__":
    import sys
    loaded = qrt.Model(sys.argv[1], check=True)
    print(describe(loaded), sorted(run(loaded, {t.name: bytes(t.nbytes) for t in loaded.inputs})))
