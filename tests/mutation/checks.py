# SPDX-License-Identifier: Apache-2.0
"""Finds the checks of a C++ source and writes mutants around them (mutants.h).

A check is the condition of QRT_MODEL_CHECK, of an `if` that returns INVALID_MODEL or UNSUPPORTED or, in a file of
functions that return whether all is well, false; or a call of a check_* function whose Status is passed on. Its mutants:

  drop     the check never refuses; the call's Status is ignored
  operand  one operand of its && and || counts for nothing
  negate   it refuses what it accepted, and the other way round

A charge is the argument of a budget's charge() or reserve(), or of a Growth's charge() or read(). It has one mutant:

  charge   the charge is 0
"""
import re

KINDS = ('drop', 'operand', 'negate', 'charge')
CHARGE = re.compile(r'(?:(?:\bbudget_?|\bmemory|\bBudget\(\w+\)|\btensors\(\)|\bimporter_?)(?:\.|->)(?:charge|reserve)|\bgrowth_?(?:\.|->)(?:charge|read))\(')


class Mutant:
    def __init__(self, file, line, kind, text):
        self.file, self.line, self.kind, self.text = file, line, kind, ' '.join(text.split())

    def key(self):
        return (self.file, self.kind, self.text)

    def __str__(self):
        return f'{self.file}:{self.line}: {self.kind}: {self.text}'


def skip(text, i):
    """The index behind the comment or literal that starts at text[i]; i if none does."""
    if text.startswith('//', i):
        end = text.find('\n', i)
        return end if end >= 0 else len(text)
    if text.startswith('/*', i):
        return text.find('*/', i) + 2
    if text[i] == '"' or (text[i] == "'" and not text[:i][-1:].isalnum()):
        quote, i = text[i], i + 1
        while text[i] != quote:
            i += 2 if text[i] == '\\' else 1
        return i + 1
    return i


def split(text, separator):
    """text at the separators that no bracket encloses."""
    parts, depth, start, i = [], 0, 0, 0
    while i < len(text):
        behind = skip(text, i)
        if behind != i:
            i = behind
            continue
        if text[i] in '([{':
            depth += 1
        elif text[i] in ')]}':
            depth -= 1
        elif depth == 0 and text.startswith(separator, i):
            parts.append(text[start:i])
            i += len(separator)
            start = i
            continue
        i += 1
    return parts + [text[start:]]


def closing(text, i):
    """The index of the bracket that closes text[i]."""
    depth = 0
    while True:
        behind = skip(text, i)
        if behind != i:
            i = behind
            continue
        if text[i] in '([{':
            depth += 1
        elif text[i] in ')]}':
            depth -= 1
            if depth == 0:
                return i
        i += 1


class Rewriter:
    def __init__(self, file, text, mutants, checks_return_false=False):
        self.file, self.text, self.mutants = file, text, mutants
        refusal = r'error\(\s*Code::k(?:InvalidModel|Unsupported)'
        if checks_return_false:
            refusal += '|false;'
        self.refuses = re.compile(r'\s*\{?\s*return (?:%s)' % refusal)

    def new(self, at, kind, text):
        self.mutants.append(Mutant(self.file, self.text.count('\n', 0, at) + 1, kind, text))
        return len(self.mutants) - 1

    def operands(self, at, e, is_whole=True):
        """e with a mutant around each operand of its && and ||."""
        inner = e.strip()
        negated = inner.startswith('!(') and closing(inner, 1) == len(inner) - 1
        bracketed = negated or (inner.startswith('(') and closing(inner, 0) == len(inner) - 1)
        core = inner[inner.index('(') + 1:-1] if bracketed else inner
        for separator, macro in (('||', 'OR'), ('&&', 'AND')):
            parts = split(core, separator)
            if len(parts) > 1 and len(split(core, '?')) == 1:
                done = [f'QRT_MUTANT_{macro}({self.new(at, "operand", part)}, ({self.operands(at, part, False)}))'
                        for part in parts]
                return f'{"!" if negated else ""}({f" {separator} ".join(done)})'
        return inner

    def condition(self, at, e, refuses_when):
        """A whole condition: dropped, negated, and its operands."""
        e_text = e.strip()
        drop, negate = self.new(at, 'drop', e_text), self.new(at, 'negate', e_text)
        body = f'QRT_MUTANT_NOT({negate}, ({self.operands(at, e)}))'
        return f'QRT_MUTANT_{"OR" if refuses_when else "AND"}({drop}, {body})'

    def call(self, at, e):
        return f'QRT_MUTANT_CALL({self.new(at, "drop", e)}, ({e}))'

    def run(self):
        """The source with its mutants."""
        text, out, done = self.text, [], 0
        start = re.compile(r'QRT_MODEL_CHECK\(|\bif \(|QRT_TRY\((?=(?:check|start)_|read_constant)|'
                           r'\breturn (?=check_\w+\()|\bStatus status = (?=check_\w+\()')
        i = 0
        while i < len(text):
            behind = skip(text, i)
            if behind != i:
                i = behind
                continue
            match = start.match(text, i)
            if match is None or text.rfind('#define', text.rfind('\n', 0, i) + 1, i) >= 0:
                i += 1
                continue
            if match.group().endswith('('):
                opening, end = match.end() - 1, closing(text, match.end() - 1)
                body = text[opening + 1:end]
            else:
                opening, end = match.end() - 1, closing(text, text.index('(', match.end())) + 1
                body = text[opening + 1:end]
            new = None
            if match.group() == 'QRT_MODEL_CHECK(':
                condition = split(body, ',')[0]
                new = self.condition(i, condition, False) + body[len(condition):]
            elif match.group() == 'if (':
                is_plain = ';' not in body and not re.match(r'(const )?(auto|\w+)[ *&]+\w+ = ', body)
                if is_plain and self.refuses.match(text, end + 1):
                    new = self.condition(i, body, True)
            else:
                new = self.call(i, body)
            if new is not None:
                out += [text[done:opening + 1], new]
                done = end
                i = end
            else:
                i = match.end()
        return ''.join(out) + text[done:]


def with_charges(file, text, mutants):
    """The source with a mutant around the argument of each charge."""
    out, done = [], 0
    for match in CHARGE.finditer(text):
        begin, end = match.end(), closing(text, match.end() - 1)
        argument = text[begin:end]
        mutants.append(Mutant(file, text.count('\n', 0, match.start()) + 1, 'charge', argument))
        out += [text[done:begin], f'QRT_MUTANT_CHARGE({len(mutants) - 1}, ({argument}))']
        done = end
    return ''.join(out) + text[done:]
