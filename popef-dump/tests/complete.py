"""Types command lines into an interactive shell, as a person does.

Standard input has an object: `shell`, the command that starts the shell, and `lines`, what to type. A tab asks the shell to
complete. The shell's own start-up file must print @READY@ as its prompt, and each command @ARGS, its arguments with a line
feed behind each, and @END. Prints a list with the arguments of each line.
"""

import json
import os
import pty
import re
import select
import sys

READY = re.compile(rb"@READY@")
ARGUMENTS = re.compile(rb"@ARGS\r?\n(.*?)@END", re.DOTALL)


class Terminal:
    def __init__(self, shell):
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.execvp(shell[0], shell)
        self.seen = b""

    def wait_for(self, pattern):
        """Reads until the pattern has been seen, and forgets everything up to it."""
        while not (found := pattern.search(self.seen)):
            if not select.select([self.terminal], [], [], 60)[0]:
                sys.exit(f"the shell does not answer; it has printed {self.seen!r}")
            try:
                self.seen += os.read(self.terminal, 65536)
            except OSError:
                sys.exit(f"the shell has ended; it has printed {self.seen!r}")
        self.seen = self.seen[found.end() :]
        return found

    def type(self, text):
        os.write(self.terminal, text.encode())


def main():
    task = json.load(sys.stdin)
    terminal = Terminal(task["shell"])
    arguments = []
    for line in task["lines"]:
        terminal.wait_for(READY)
        terminal.type(line + "\r")
        arguments.append(terminal.wait_for(ARGUMENTS)[1].decode().splitlines())
    terminal.wait_for(READY)
    terminal.type("exit\r")
    json.dump(arguments, sys.stdout)


main()
