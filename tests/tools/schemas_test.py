# SPDX-License-Identifier: Apache-2.0
"""What the tools write as JSON is what runtime/tools/schemas/ says, and nothing else.
schemas_test.py REPOSITORY BIN. Status 77 without python3-jsonschema."""

import json
import os
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    print('python3-jsonschema is missing: ./dev setup test')
    sys.exit(77)

repository, bin_folder = (os.path.abspath(path) for path in sys.argv[1:3])
schemas = os.path.join(repository, 'runtime/tools/schemas')


def closed(schema):
    """The schema, with no other fields than those it names."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: closed(part) for key, part in schema.items()}
    if isinstance(schema.get('properties'), dict) and schema.get('type') == 'object':
        result.setdefault('additionalProperties', False)
    return result


def validator(name):
    with open(os.path.join(schemas, name + '.schema.json'), encoding='utf-8') as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(closed(schema))


validators = {name.split('.')[0]: validator(name.split('.')[0]) for name in os.listdir(schemas)}
used = set()


def check(name, value):
    used.add(name)
    validators[name].validate(value)


def run(tool, *arguments, status=0):
    done = subprocess.run([os.path.join(bin_folder, tool), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == status, (tool, arguments, done.returncode, done.stderr)
    return done.stdout


def runs_of(text):
    value = json.loads(text)
    return value if isinstance(value, list) else [value]


with tempfile.TemporaryDirectory() as folder:
    digits = os.path.join(repository, 'tests/models/digits')
    for file in ('digits.onnx', 'float.onnx', 'images.npy', 'calibration.npy'):
        os.symlink(os.path.join(digits, file), os.path.join(folder, file))
    os.chdir(folder)
    run('qrt_convert', 'digits.onnx', '-o', 'd.qrt')

    check('inspect', json.loads(run('qrt_inspect', 'd.qrt', '--format', 'json')))
    check('inspect', json.loads(run('qrt_inspect', 'd.qrt', '--format', 'json', '--batch', '3')))

    bench = ('qrt_bench', 'd.qrt', '--seconds', '0.01', '--format', 'json')
    with open('old.json', 'w', encoding='utf-8') as file:
        file.write(run(*bench))
    for options in ([], ['--profile'], ['--stream', '10'], ['--threads', '1,2'], ['--streams', '2'], ['--streams', '1', '--qps', '50'],
                    ['--scaling', '2']):
        for one in runs_of(run(*bench, *options)):
            check('bench', one)
    compared = subprocess.run([os.path.join(bin_folder, bench[0]), *bench[1:], '--compare', 'old.json'],
                              capture_output=True, text=True, check=False)
    for one in runs_of(compared.stdout):
        check('bench', one)
    for line in run(*bench[:-1], 'jsonl', '--threads', '1,2').splitlines():
        check('bench', json.loads(line))

    check('convert', json.loads(run('qrt_convert', 'digits.onnx', '--explain=json')))
    for model in ('digits.onnx', 'float.onnx'):
        done = subprocess.run([os.path.join(bin_folder, 'qrt_convert'), model, '--explain=json', '--lint=json'],
                              capture_output=True, text=True, check=False)
        check('convert', json.loads(done.stdout))

    run('qrt_quantize', 'float.onnx', '--calibration', 'calibration.npy', '--report', 'report.json')
    with open('report.json', encoding='utf-8') as file:
        check('quantize', json.load(file))

    run('qrt_run', 'd.qrt', 'images.npy', '--dump-all', '--output-dir', 'dump')
    with open('dump/index.json', encoding='utf-8') as file:
        check('dump', json.load(file))

    for model in ('digits.onnx', 'float.onnx', 'd.qrt'):
        check('doctor', json.loads(run('qrt_doctor', model, '--format', 'json', '--seconds', '0.01')))

    # A schema that takes anything would find nothing.
    for name, value in (('doctor', {'file': 'x'}), ('bench', {'model': 1}), ('convert', {'nodes': 1})):
        try:
            validators[name].validate(value)
        except jsonschema.ValidationError:
            continue
        sys.exit(f'{name}: takes {value}')

assert used == set(validators), f'not tested: {set(validators) - used}'
print(f'{len(used)} schemas')
