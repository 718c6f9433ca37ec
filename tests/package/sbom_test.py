# SPDX-License-Identifier: Apache-2.0
"""The bill of materials names every library that the programs are linked with, each with a version and a licence.
sbom_test.py SBOM.PY VERSION FILE..."""

import functools
import json
import re
import subprocess
import sys


@functools.lru_cache(None)
def files_of(package):
    return subprocess.run(['dpkg-query', '-L', package], check=True, capture_output=True, text=True).stdout


text = subprocess.run([sys.executable] + sys.argv[1:], check=True, capture_output=True, text=True).stdout
bill = json.loads(text)
packages = {p['SPDXID']: p for p in bill['packages']}
assert bill['spdxVersion'] == 'SPDX-2.3'
assert len(packages) == len(bill['packages']), 'a name twice'

known = {'SPDXRef-DOCUMENT', *packages}
links = {}
for relation in bill['relationships']:
    assert {relation['spdxElementId'], relation['relatedSpdxElement']} <= known, relation
    if relation['relationshipType'] == 'DYNAMIC_LINK':
        links.setdefault(relation['spdxElementId'], []).append(packages[relation['relatedSpdxElement']])

refs = {r['licenseId'] for r in bill['hasExtractedLicensingInfos']}
for package in packages.values():
    assert re.fullmatch(r'SPDXRef-[a-zA-Z0-9.-]+', package['SPDXID']), package['SPDXID']
    assert package['versionInfo'], package['name']
    assert set(re.findall(r'LicenseRef-[a-zA-Z0-9.-]+', package['licenseDeclared'])) <= refs, package['name']

for file in sys.argv[3:]:
    this = next(p for p in packages.values() if p['name'] == file.rpartition('/')[2])
    needed = re.findall(r'NEEDED.*\[(.*)\]', subprocess.run(['readelf', '-dW', file], check=True, capture_output=True,
                                                             text=True).stdout)
    assert needed and this['comment'].split()[2:] == needed, file
    linked = links[this['SPDXID']]
    for library in needed:
        found = [p for p in linked if library in files_of(p['name'])]
        assert found, f'{file}: {library} is not in the bill'
        assert found[0]['licenseDeclared'] != 'NOASSERTION', f'{library}: licence of {found[0]["name"]}'
    print(f'{this["name"]}: {len(needed)} libraries of {len(linked)} packages')

# An archive names the packages whose code it holds.
text = subprocess.run([sys.executable, *sys.argv[1:3], f'{__file__}:libflatbuffers-dev'], check=True, capture_output=True, text=True).stdout
bill = json.loads(text)
this = next(p for p in bill['packages'] if p['name'] == 'sbom_test.py')
held = [r['relatedSpdxElement'] for r in bill['relationships'] if r['spdxElementId'] == this['SPDXID'] and r['relationshipType'] == 'STATIC_LINK']
assert held == ['SPDXRef-libflatbuffers-dev'], held
assert this['comment'] == 'holds code of libflatbuffers-dev', this['comment']
