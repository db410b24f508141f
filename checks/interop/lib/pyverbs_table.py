"""Compares the results of pyverbs's tests over exec and on rdma_rxe: pyverbs_table.py FOLDER KERNEL VERSION [PAGE].

Prints a table by class and one of the tests that differ, and writes both to PAGE. Ends with 1 if a test that passes on rdma_rxe does
not over exec, or fails over exec and is not skipped on rdma_rxe.
"""

import os
import re
import sys

# Patterns of reasons that pyverbs gives, each with its meaning.
MEANINGS = [
    ('Create XRCD is not', 'rdma_rxe has no XRC'),
    ('Rereg MR is not', 'rdma_rxe cannot change a memory region'),
    ('ODP is not', 'this rdma_rxe has no on-demand paging; the software device pins no memory, so that all memory is paged on demand'),
]

PAGE = """# Tests of pyverbs

rdma-core tests device drivers with its Python binding pyverbs. This page compares the results of these tests over
[`rdma4j exec`](guide/c-programs.md), as an ordinary user, with the results on `rdma_rxe`, the software device of Linux {kernel}. The tests are
from Debian's python3-pyverbs {version}, without the vendor-specific ones. `checks/interop/pyverbs --page docs/pyverbs.md` runs them
and writes this page.

A test is skipped on a device that lacks a required feature. The tests of the connection manager (`test_rdmacm`) fork two processes. Over exec,
the child processes can use devices only if their parent has not used any. Therefore these tests and `test_fork` run in a separate group, on both
devices, in which no device is opened before.

## Results

{classes}

## Tests that differ

{differences}

## Tests that both skip

{skipped}
"""


def results_of(folder, side):
    """Returns outcome and reason of each test, by the name of the test."""
    results = {}
    for group in 'other', 'forking':
        path = os.path.join(folder, f'{side}-{group}')
        if not os.path.exists(path):
            continue
        with open(path, encoding='utf-8') as file:
            for line in file:
                name, outcome, reason = (line.rstrip('\n').split('\t') + ['', ''])[:3]
                if name.startswith('test_'):
                    results[name] = outcome, reason
    return results


def summary(outcomes):
    counts = [(outcome, sum(1 for other, _ in outcomes if other == outcome)) for outcome in ('passed', 'skipped', 'failed', 'missing')]
    return ', '.join(f'{count} {outcome}' for outcome, count in counts if count)


def class_of(name):
    return name.rpartition('.')[0] or name


def by_class(exec_results, rxe_results, names):
    rows = [('test class', 'over exec', 'on rdma_rxe')]
    for title in sorted({class_of(name) for name in names}):
        members = [name for name in names if class_of(name) == title]
        rows.append((title, summary([exec_results[name] for name in members]), summary([rxe_results[name] for name in members])))
    rows.append(('all', summary([exec_results[name] for name in names]), summary([rxe_results[name] for name in names])))
    return rows


def meaning(exec_result, rxe_result):
    """Returns the reason of a difference: that of pyverbs for the side that did not pass, or what this means."""
    reason = next((reason for outcome, reason in (exec_result, rxe_result) if outcome != 'passed' and reason), '')
    return next((text for pattern, text in MEANINGS if re.search(pattern, reason)), reason)


def differing(exec_results, rxe_results, names):
    """Groups the tests of a class that differ in the same way."""
    groups = {}
    for name in names:
        results = exec_results[name], rxe_results[name]
        if results[0][0] != results[1][0]:
            key = class_of(name), results[0][0], results[1][0], meaning(*results)
            groups.setdefault(key, []).append(name.rpartition('.')[2])
    rows = [('test class', 'tests', 'over exec', 'on rdma_rxe', 'reason')]
    for (title, over_exec, on_rxe, reason), tests in groups.items():
        rows.append((title, ', '.join(tests), over_exec, on_rxe, reason))
    return rows


def skipped_by_both(exec_results, rxe_results, names):
    """Counts the tests that skip themselves on both sides, by their reasons."""
    counts = {}
    for name in names:
        if exec_results[name][0] == rxe_results[name][0] == 'skipped':
            key = exec_results[name][1], rxe_results[name][1]
            counts[key] = counts.get(key, 0) + 1
    rows = [('tests', 'reason over exec', 'reason on rdma_rxe')]
    for (over_exec, on_rxe), count in sorted(counts.items(), key=lambda item: -item[1]):
        rows.append((str(count), over_exec, 'the same' if on_rxe == over_exec else on_rxe))
    return rows


def markdown(rows):
    lines = [rows[0], ['---'] * len(rows[0]), *rows[1:]]
    return '\n'.join('| ' + ' | '.join(cell.replace('|', '\\|') for cell in line) + ' |' for line in lines)


def print_rows(rows, widths):
    for row in rows:
        print('  '.join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def main():
    folder, kernel, version = sys.argv[1:4]
    sides = [results_of(folder, side) for side in ('exec', 'rxe')]
    names = sorted(set(sides[0]) | set(sides[1]))
    for side in sides:
        side.update({name: ('missing', 'the test did not run') for name in names if name not in side})
    classes, differences = by_class(*sides, names), differing(*sides, names)
    print_rows(classes, (42, 34, 34))
    if len(differences) > 1:
        print()
        print_rows([(row[0], row[2], row[3], row[4], row[1]) for row in differences], (36, 8, 11, 0, 0))
    if len(sys.argv) > 4:
        with open(sys.argv[4], 'w', encoding='utf-8') as page:
            page.write(PAGE.format(kernel=kernel, version=version, classes=markdown(classes), differences=markdown(differences),
                                   skipped=markdown(skipped_by_both(*sides, names))))
    faults = [name for name in names if sides[0][name][0] != 'passed' and
              (sides[1][name][0] == 'passed' or (sides[0][name][0] in ('failed', 'missing') and sides[1][name][0] != 'skipped'))]
    for name in faults:
        print(f'fault: {name} {sides[0][name][0]} over exec: {sides[0][name][1]}')
    return 1 if faults or not names else 0


if __name__ == '__main__':
    sys.exit(main())
