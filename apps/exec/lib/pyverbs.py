#!/usr/bin/python3
"""Runs the tests of pyverbs, rdma-core's Python binding, with the libibverbs that the process loads.

Needs only python3 and Debian's package python3-pyverbs, which has the tests in /usr/share/doc. Prints a summary, and writes one line
for each test: its name, "passed", "skipped" or "failed", and a reason, separated by tabs. The tests of a module run in one process.
If a test ends the process or takes too long, the remaining ones run in a new process.
"""

import argparse
import fnmatch
import gzip
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest

# Tests for devices of one vendor or for graphics cards.
VENDOR_TESTS = r'test_(mlx5|efa|irdma|cuda)'
POLL_SECONDS = 0.05
NO_MAC = '00:00:00:00:00:00'
# Where distributions install the tests.
FOLDERS = ['/usr/share/doc/rdma-core/tests', '/usr/share/doc/python3-pyverbs/tests']


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--tests', metavar='FOLDER', default=next(filter(os.path.isdir, FOLDERS), FOLDERS[0]),
                        help='folder of the tests, which may be compressed (default: %(default)s)')
    parser.add_argument('--output', metavar='FILE', help='write the result lines to FILE')
    parser.add_argument('--only', default='', metavar='PATTERN', help='only tests with a matching name')
    parser.add_argument('--without', metavar='FILE', help='tests to skip: a shell pattern, a tab and a reason on each line')
    parser.add_argument('--known', metavar='FILE', help='tests that may fail, in the same format')
    parser.add_argument('--seconds', type=float, default=60, help='time limit of one test (default: %(default)s)')
    parser.add_argument('--list', action='store_true', help='print the names of the tests and exit')
    parser.add_argument('--device', help='name of the device (default: the first one)')
    parser.add_argument('--port', type=int, default=1, help='port of the device')
    parser.add_argument('--gid', type=int, help='index of the GID (default: the first one that is set)')
    parser.add_argument('--address', help='IP address for the tests of the connection manager, if sysfs does not show the interface')
    parser.add_argument('--fork-first', action='store_true',
                        help='do not open a device before a test of the connection manager forks; needs --device, --gid and --address')
    parser.add_argument('--child', nargs='+', help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.fork_first and not (arguments.device and arguments.gid is not None and arguments.address):
        parser.error('--fork-first needs --device, --gid and --address')
    return arguments


# ---- The process that runs tests ----

class Recorder(unittest.TestResult):
    """Writes one line when a test starts, and one when it has ended."""

    def __init__(self, file):
        super().__init__()
        self.file = file
        self.outcome = None

    def write(self, test, outcome, reason=''):
        reason = ' '.join(str(reason).split())
        self.file.write('\t'.join([short_name(test.id()), outcome, reason]) + '\n')
        self.file.flush()

    def startTest(self, test):
        super().startTest(test)
        self.outcome = ('passed', '')
        self.write(test, 'started')

    def stopTest(self, test):
        super().stopTest(test)
        self.write(test, *self.outcome)

    def set_failed(self, test, error):
        reason = f'{error[0].__name__}: {error[1]}'
        if self.outcome is None:
            self.write(test, 'failed', reason)  # a class or a module
        else:
            self.outcome = ('failed', reason)

    def addError(self, test, err):
        self.set_failed(test, err)

    def addFailure(self, test, err):
        self.set_failed(test, err)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.set_failed(test, err)

    def addSkip(self, test, reason):
        self.outcome = ('skipped', reason)

    def addUnexpectedSuccess(self, test):
        self.outcome = ('failed', 'passes although it is expected to fail')


def read_reasons(path):
    """Returns the patterns in a file with their reasons."""
    if not path:
        return {}
    with open(path, encoding='utf-8') as file:
        return dict(line.rstrip('\n').split('\t', 1) for line in file if line.strip() and not line.startswith('#'))


def reason_for(name, reasons):
    return next((reason for pattern, reason in reasons.items() if fnmatch.fnmatch(name, pattern)), '')


def short_name(name):
    return name.removeprefix('tests.')


def unpack(source):
    """Copies the tests, uncompressed, to a new folder, and returns its name."""
    folder = tempfile.mkdtemp(prefix='pyverbs-')
    for name in os.listdir(source):
        path = os.path.join(source, name)
        if name.endswith('.py.gz'):
            with gzip.open(path) as packed, open(os.path.join(folder, name[:-3]), 'wb') as plain:
                shutil.copyfileobj(packed, plain)
        elif name.endswith('.py'):
            shutil.copy(path, folder)
    return folder


def prepare(folder, arguments):
    """Makes the package of the tests importable, without its __init__, which imports the tests of all vendors."""
    package = types.ModuleType('tests')
    package.__path__ = [folder]
    sys.modules['tests'] = package
    sys.path.insert(0, folder)
    # This file has the same name as the package of the binding.
    own = os.path.dirname(os.path.abspath(__file__))
    sys.path = [path for path in sys.path if os.path.abspath(path or '.') != own]
    sys.argv = ['tests', '--port', str(arguments.port)]
    if arguments.device:
        sys.argv += ['--dev', arguments.device]
    if arguments.gid is not None:
        sys.argv += ['--gid', str(arguments.gid)]
    from args_parser import parser
    parser.parse_args()
    if arguments.address:
        set_address(arguments)


def set_address(arguments):
    from tests import base

    def add_combination(test, device, port, gid):
        test.args.append([device, port, gid, arguments.address, NO_MAC])

    base.RDMATestCase._get_ip_mac = add_combination
    if arguments.fork_first:
        from tests import utils
        utils.requires_mcast_support = lambda: lambda test: test
        base.RDMACMBaseTest.setUp = lambda test: set_up_without_device(test, arguments)
        base.RDMATestCase.is_eth_and_has_roce_hw_bug = lambda _: False


def set_up_without_device(test, arguments):
    test.pkey_index = 0
    test.dev_name, test.ib_port, test.gid_index = arguments.device, arguments.port, arguments.gid
    test.ip_addr, test.mac_addr = arguments.address, NO_MAC
    test.dev_info = {'dev_name': test.dev_name, 'ib_port': test.ib_port, 'gid_index': test.gid_index}


def tests_of(module):
    """Yields the tests of a module."""
    loader = unittest.TestLoader()

    def flatten(suite):
        for test in suite:
            if isinstance(test, unittest.TestSuite):
                yield from flatten(test)
            else:
                yield test

    return flatten(loader.loadTestsFromName('tests.' + module))


def run_child(folder, module, output, skip_names, arguments):
    """Runs the matching tests of a module, except those named in the file skip_names."""
    prepare(folder, arguments)
    with open(skip_names, encoding='utf-8') as file:
        done = set(file.read().split('\n'))
    suite = unittest.TestSuite()
    for test in tests_of(module):
        name = short_name(test.id())
        if re.search(arguments.only, name) and name not in done:
            suite.addTest(test)
    without = read_reasons(arguments.without)
    with open(output, 'a', encoding='utf-8') as file:
        if arguments.list:
            file.writelines(f'{short_name(test.id())}\tlisted\t\n' for test in suite)
            return
        recorder = Recorder(file)
        for test in suite:
            reason = reason_for(short_name(test.id()), without)
            if reason:
                recorder.write(test, 'skipped', reason)
        suite = unittest.TestSuite(test for test in suite if not reason_for(short_name(test.id()), without))
        suite.run(recorder)


# ---- The process that starts the others ----

def read_lines(path):
    with open(path, encoding='utf-8') as file:
        return [line.rstrip('\n').split('\t') for line in file if line.endswith('\n')]


def wait_for(child, output, limit):
    """Waits until a child ends or a test takes longer than the limit. Returns whether it took longer."""
    size, since = -1, time.monotonic()
    while True:
        try:
            child.wait(POLL_SECONDS)
            return False
        except subprocess.TimeoutExpired:
            pass
        now = os.path.getsize(output)
        if now != size:
            size, since = now, time.monotonic()
        elif time.monotonic() - since > limit:
            return True


def end_group(child):
    """Kills a child and everything that it has left running."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()


def why_ended(child, late, limit):
    if late:
        return f'has not ended after {limit:g} s'
    if child.returncode < 0:
        return f'the process ended by {signal.Signals(-child.returncode).name}'
    return f'the process ended with status {child.returncode}'


def run_module(folder, module, work, arguments):
    """Returns the results of a module: lists of name, outcome and reason."""
    results = {}
    output, skip_names = os.path.join(work, 'results'), os.path.join(work, 'done')
    while True:
        open(output, 'w', encoding='utf-8').close()
        with open(skip_names, 'w', encoding='utf-8') as file:
            file.write('\n'.join(results))
        child = subprocess.Popen([sys.executable, os.path.abspath(__file__), *sys.argv[1:], '--child', folder, module, output, skip_names],
                                 start_new_session=True)
        late = wait_for(child, output, arguments.seconds)
        end_group(child)
        running = None
        for name, outcome, reason in read_lines(output):
            running = name if outcome == 'started' else None
            if outcome != 'started':
                results[name] = [name, outcome, reason]
        if running is None:
            if child.returncode or late:
                results[module] = [module, 'failed', why_ended(child, late, arguments.seconds)]
            return list(results.values())
        results[running] = [running, 'failed', why_ended(child, late, arguments.seconds)]


def print_summary(results, known):
    """Prints the tests that did not pass, and the counts. Returns whether a test failed unexpectedly."""
    unknown = 0
    for name, outcome, reason in results:
        if outcome == 'failed':
            known_reason = reason_for(name, known)
            unknown += not known_reason
            print(f'failed   {name}: {reason}' + (f' (known: {known_reason})' if known_reason else ''))
    reasons = {}
    for _, outcome, reason in results:
        if outcome == 'skipped':
            reasons[reason] = reasons.get(reason, 0) + 1
    for reason, count in sorted(reasons.items(), key=lambda item: -item[1]):
        print(f'skipped  {count:3} {reason}')
    counts = {outcome: sum(1 for result in results if result[1] == outcome) for outcome in ('passed', 'skipped', 'failed')}
    print(f"{counts['passed']} passed, {counts['skipped']} skipped, {counts['failed']} failed, of which {unknown} not known")
    return unknown > 0


def main():
    arguments = read_arguments()
    if arguments.child:
        run_child(*arguments.child, arguments)
        return 0
    folder = unpack(arguments.tests)
    work = tempfile.mkdtemp(prefix='pyverbs-')
    try:
        results = []
        for file in sorted(os.listdir(folder)):
            module = file.removesuffix('.py')
            if file.startswith('test_') and not re.match(VENDOR_TESTS, module):
                results += run_module(folder, module, work, arguments)
    finally:
        shutil.rmtree(folder)
        shutil.rmtree(work)
    if arguments.list:
        print('\n'.join(name for name, _, _ in results))
        return 0
    if arguments.output:
        with open(arguments.output, 'w', encoding='utf-8') as file:
            file.writelines('\t'.join(result) + '\n' for result in results)
    if not results:
        print(f'no test of {arguments.tests} matches', file=sys.stderr)
        return 2
    return 1 if print_summary(results, read_reasons(arguments.known)) else 0


if __name__ == '__main__':
    sys.exit(main())
