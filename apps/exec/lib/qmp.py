"""Sends one command to QEMU's monitor: qmp.py SOCKET COMMAND [JSON ARGUMENTS]. Prints the result, or fails with its error."""

import json
import socket
import sys


def receive(lines):
    """Returns the next message that is not an event."""
    for line in lines:
        message = json.loads(line)
        if "event" not in message:
            return message
    raise EOFError("the monitor has closed the connection")


def main(path, command, arguments="{}"):
    with socket.socket(socket.AF_UNIX) as monitor:
        monitor.settimeout(60)
        monitor.connect(path)
        lines = monitor.makefile("rw")
        receive(lines)
        for name, values in (("qmp_capabilities", {}), (command, json.loads(arguments))):
            lines.write(json.dumps({"execute": name, "arguments": values}) + "\n")
            lines.flush()
            answer = receive(lines)
            if "error" in answer:
                sys.exit(answer["error"]["desc"])
    print(json.dumps(answer["return"]))


main(*sys.argv[1:])
