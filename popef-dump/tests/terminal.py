"""Runs commands in a terminal of a certain size.

Standard input has an object: `commands`, a list of lists of words, and `rows` and `columns`. Prints a list with what each
command writes to the terminal, with line feeds alone at the ends of lines.
"""

import fcntl
import json
import os
import pty
import struct
import sys
import termios


def in_terminal(command, rows, columns):
    process, terminal = pty.fork()
    if process == 0:
        size = struct.pack("HHHH", rows, columns, 0, 0)
        fcntl.ioctl(sys.stdout.fileno(), termios.TIOCSWINSZ, size)
        os.execvp(command[0], command)
    shown = b""
    # Linux answers with an error when the command has ended.
    try:
        while data := os.read(terminal, 65536):
            shown += data
    except OSError:
        pass
    os.waitpid(process, 0)
    return shown.decode().replace("\r\n", "\n")


task = json.load(sys.stdin)
json.dump([in_terminal(command, task["rows"], task["columns"]) for command in task["commands"]], sys.stdout)
