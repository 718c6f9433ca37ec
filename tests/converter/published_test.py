# SPDX-License-Identifier: Apache-2.0
"""converter/COVERAGE.md says what is so: models that it calls running are converted with open dimensions and give the numbers of
tests/models/published/reference.py at every size, and the bytes of a model that was converted for one size alone; what it calls
refused is refused in the words that it quotes. published_test.py REPOSITORY BIN. Status 77 without python3-onnx."""

import importlib
import os
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
except ImportError:
    print('python3-onnx is missing: ./dev setup test')
    sys.exit(77)

sys.dont_write_bytecode = True
repository, bin_folder = (os.path.abspath(path) for path in sys.argv[1:3])
sys.path.insert(0, os.path.join(repository, 'tests/models/published'))
import reference  # noqa: E402

LEAST = 40  # Decibels of signal over difference: a rounding before a DynamicQuantizeLinear may fall to the other side.


def call(tool, *arguments):
    return subprocess.run([os.path.join(bin_folder, tool), '--quiet', *arguments], capture_output=True, text=True, check=False)


def decibels(got, want):
    got, want = got.astype(np.float64), want.astype(np.float64)
    noise = ((got - want) ** 2).sum()
    return np.inf if noise == 0 else 10 * np.log10((want ** 2).sum() / noise)


def run(folder, model, case):
    inputs = []
    for name, value in case.items():
        path = os.path.join(folder, f'in_{len(inputs)}.npy')
        np.save(path, value)
        inputs += ['--input', f'{name}={path}']
    path = os.path.join(folder, 'out.npz')
    done = call('qrt_run', model, *inputs, '-o', path)
    assert done.returncode == 0, done.stderr
    with np.load(path) as file:
        return dict(file)


def check_running(folder, source, graph, cases, flags, least):
    model = os.path.join(folder, 'model.qrt')
    done = call('qrt_convert', source, *flags, '-o', model)
    assert done.returncode == 0, done.stderr
    results = []
    for case in cases:
        got, want = run(folder, model, case), reference.run(graph, case)
        for name, value in want.items():
            assert got[name].shape == value.shape and got[name].dtype == value.dtype, (name, got[name].shape, value.shape)
            near = decibels(got[name], value)
            results.append(near)
            assert near >= (least if value.dtype == np.float32 else np.inf), (name, near)
    if '--input-shape' not in flags:
        sizes = [f'--input-shape={name}=' + 'x'.join(map(str, value.shape)) for name, value in cases[-1].items() if value.ndim]
        done = call('qrt_convert', source, *flags, *sizes, '-o', model)
        assert done.returncode == 0, done.stderr
        fixed = run(folder, model, cases[-1])
        for name, value in got.items():
            assert fixed[name].tobytes() == value.tobytes(), (name, 'differs where it is converted for these sizes alone')
    return min(results)


def check_refused(source, flags, quoted):
    done = call('qrt_convert', source, *flags, '-o', os.devnull)
    assert done.returncode == 4, (done.returncode, done.stderr)
    assert any(part in done.stderr for part in quoted), (done.stderr, quoted)


def rows():
    with open(os.path.join(repository, 'converter/COVERAGE.md'), encoding='utf-8') as file:
        text = file.read()
    table = [line.strip('| \n').split(' | ') for line in text.splitlines() if line.startswith('| ')][1:]
    runs = sum(row[4].startswith('runs') for row in table)
    assert len(table) == 40 and f'{runs} of 40' in text, (len(table), runs)
    return table


seen = set()
with tempfile.TemporaryDirectory() as folder:
    for row in rows():
        model, says, evidence = row[0], row[4], row[5]
        assert re.match(r'runs|refused|not shown', says), says
        for module_name, name, refused in re.findall(r'`(\w+)\.(\w+)`( refused)?', evidence):
            module = importlib.import_module(module_name)
            proto, cases = module.MODELS[name]()
            flags = getattr(module, 'FLAGS', {}).get(name, [])
            for flag in flags:
                assert not flag.startswith('--') or flag in says, (model, flag, 'is not told')
            source = os.path.join(folder, 'model.onnx')
            onnx.save(proto, source)
            print(f'{model}: {module_name}.{name}', end=' ', flush=True)
            if refused:
                check_refused(source, flags, re.findall(r'"([^"]+)"', says))
                print('refused')
            else:
                print(f"{check_running(folder, source, proto.graph, cases, flags, getattr(module, 'DECIBELS', LEAST)):.0f} dB")
            seen.add((module_name, name))
for file in os.listdir(os.path.join(repository, 'tests/models/published')):
    if file.endswith('.py'):
        module = importlib.import_module(file[:-3])
        for name in getattr(module, 'MODELS', {}):
            assert (file[:-3], name) in seen, (file, name, 'is in no row of converter/COVERAGE.md')
