#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bill of materials of built programs and libraries, in SPDX 2.3 (JSON): what they are linked with, what they were built from,
whose it is and under which licence, as Debian's packages tell. sbom.py VERSION FILE[:[PACKAGE,...]]... >qrt.spdx.json

A file with a list of packages is an archive or a package that holds static code of these, or that asks for them."""

import datetime
import functools
import hashlib
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# Debian's names of licences that SPDX calls otherwise; the others are the same but for their case.
SPDX = {
    'expat': 'MIT', 'apache-2': 'Apache-2.0', 'apache-2.0': 'Apache-2.0', 'bsd-2-clause': 'BSD-2-Clause',
    'bsd-3-clause': 'BSD-3-Clause', 'bsd-2-clauses': 'BSD-2-Clause', 'bsd-3-clauses': 'BSD-3-Clause', 'zlib': 'Zlib',
    'libpng': 'Libpng', 'mit': 'MIT', 'boost-1.0': 'BSL-1.0', 'bsl-1.0': 'BSL-1.0', 'cc0-1.0': 'CC0-1.0', 'ijg': 'IJG',
}
# Licences of packages whose copyright file is prose, by patterns of their names.
PROSE = {
    r'libc6(-dev)?(-\w+-cross)?': 'LGPL-2.1-or-later', r'libwebp.*': 'BSD-3-Clause',
    r'libgcc-s1|libstdc\+\+.*|g\+\+-mingw.*': 'GPL-3.0-or-later WITH GCC-exception-3.1',
}


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def needed(file):
    """Names of the libraries that a file asks the loader for."""
    return re.findall(r'\(NEEDED\).*\[(.*)\]', output('readelf', '-dW', file))


def paths(file):
    """Where the loader finds them: {name: path}."""
    listed = output('ldd', file)
    found = dict(re.findall(r'^\s*(\S+) => (\S+) ', listed, re.M))
    # The loader itself stands there by its path alone.
    return found | {os.path.basename(path): path for path in re.findall(r'^\s*(/\S+) \(', listed, re.M)}


@functools.lru_cache(None)
def owner(path):
    """The Debian package that a file belongs to; its name may lead over a folder that is a link by now."""
    for name in (path, os.path.realpath(path), os.path.realpath(path).removeprefix('/usr')):
        found = subprocess.run(['dpkg-query', '-S', name], capture_output=True, text=True).stdout
        if found:
            return found.split(': ')[0].split(',')[0].split(':')[0]
    sys.exit(f'sbom.py: {path} belongs to no Debian package')


def licence(package):
    """(SPDX expression, with LicenseRef- for Debian's other names, or NOASSERTION; file that tells it all)"""
    file = f'/usr/share/doc/{package}/copyright'
    try:
        with open(file, encoding='utf-8', errors='replace') as f:
            text = f.read()
    except OSError:
        return 'NOASSERTION', file
    if not text.startswith('Format'):
        return next((term for pattern, term in PROSE.items() if re.fullmatch(pattern, package)), 'NOASSERTION'), file
    names = set()
    for paragraph in re.split(r'\n\s*\n', text):
        files = re.search(r'^Files:\s*((?:.|\n )*)', paragraph, re.M)
        name = re.search(r'^License:[ \t]*(\S.*)$', paragraph, re.M)
        if files and name and files.group(1).split()[0] != 'debian/*':
            names.add(name.group(1).strip())
    terms = {SPDX.get(n.lower(), 'LicenseRef-' + re.sub(r'[^a-zA-Z0-9.-]+', '-', n)) for n in names}
    return ' AND '.join(sorted(terms)) or 'NOASSERTION', file


def package_entry(name):
    version, source, home = output('dpkg-query', '-W', '-f=${Version}\t${source:Package}\t${Homepage}', name).split('\t')
    expression, file = licence(name)
    return {
        'SPDXID': 'SPDXRef-' + re.sub(r'[^a-zA-Z0-9.-]', '-', name), 'name': name, 'versionInfo': version,
        'supplier': 'Organization: Debian', 'sourceInfo': f'Debian source package {source}',
        'downloadLocation': home or 'NOASSERTION', 'filesAnalyzed': False, 'licenseConcluded': 'NOASSERTION',
        'licenseDeclared': expression, 'licenseComments': f'{file} of the package', 'copyrightText': 'NOASSERTION',
        'externalRefs': [{'referenceCategory': 'PACKAGE-MANAGER', 'referenceType': 'purl',
                          'referenceLocator': f'pkg:deb/debian/{name}@{version}?distro=debian-12'}],
    }


@functools.lru_cache(None)
def build_packages():
    """What packages.txt names for building, as far as it is installed."""
    with open(os.path.join(HERE, 'packages.txt'), encoding='utf-8') as f:
        names = [line.split()[1] for line in f if line.startswith('build ')]
    return [n for n in names
            if subprocess.run(['dpkg-query', '-W', n], capture_output=True, check=False).returncode == 0]


def document(version, files):
    packages, relations, own = {}, [], []

    def add(name):
        if name not in packages:
            packages[name] = package_entry(name)
        return packages[name]['SPDXID']

    for given in files:
        file, is_archive, parts = given.partition(':')
        name = os.path.basename(file)
        with open(file, 'rb') as f:
            digest = hashlib.sha256(f.read()).hexdigest()
        this = 'SPDXRef-qrt-' + re.sub(r'[^a-zA-Z0-9.-]', '-', name)
        libraries = [] if is_archive else needed(file)
        comment = 'linked with ' + ' '.join(libraries)
        if is_archive:
            comment = ('asks for ' if name.endswith('.deb') else 'holds code of ') + (parts.replace(',', ' ') or 'none')
        own.append({
            'SPDXID': this, 'name': name, 'versionInfo': version, 'downloadLocation': 'NOASSERTION', 'filesAnalyzed': False,
            'licenseConcluded': 'NOASSERTION', 'licenseDeclared': 'Apache-2.0', 'copyrightText': 'NOASSERTION',
            'checksums': [{'algorithm': 'SHA256', 'checksumValue': digest}],
            'comment': comment})
        relations.append(('SPDXRef-DOCUMENT', 'DESCRIBES', this))
        for package in filter(None, parts.split(',')):
            relations.append((this, 'DEPENDS_ON' if name.endswith('.deb') else 'STATIC_LINK', add(package)))
        where = paths(file) if libraries else {}
        for package in sorted({owner(where[library]) for library in libraries}):
            relations.append((this, 'DYNAMIC_LINK', add(package)))
        for package in build_packages():
            relations.append((add(package), 'BUILD_DEPENDENCY_OF', this))
    seconds = int(os.environ.get('SOURCE_DATE_EPOCH', 0)) or int(datetime.datetime.now().timestamp())
    when = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ')
    refs = {}
    for entry in packages.values():
        for ref in re.findall(r'LicenseRef-[a-zA-Z0-9.-]+', entry['licenseDeclared']):
            refs.setdefault(ref, entry['licenseComments'])
    content = {
        'hasExtractedLicensingInfos': [{'licenseId': ref, 'name': ref[len('LicenseRef-'):], 'extractedText': 'See ' + file}
                                       for ref, file in sorted(refs.items())],
        'packages': own + [packages[name] for name in sorted(packages)],
        'relationships': [dict(zip(('spdxElementId', 'relationshipType', 'relatedSpdxElement'), r)) for r in relations]}
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return {
        'spdxVersion': 'SPDX-2.3', 'dataLicense': 'CC0-1.0', 'SPDXID': 'SPDXRef-DOCUMENT', 'name': f'qrt-{version}',
        'documentNamespace': f'https://spdx.org/spdxdocs/qrt-{version}-{digest[:32]}',
        'creationInfo': {'created': when, 'creators': ['Tool: qrt third_party/sbom.py']}, **content}


if __name__ == '__main__':
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    print(json.dumps(document(sys.argv[1], sys.argv[2:]), indent=1))
