"""The tables of docs/PERFORMANCE.md: their rows, the machine, and their places on the page."""

import os
import platform
import re
import subprocess
import tempfile
import time
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs/PERFORMANCE.md"


def row(work, goal, figure, peer="", ratio="", met=True):
    met = "" if goal.startswith("none") else "yes" if met else "no"
    return f"| {work} | {goal} | {figure} | {peer} | {ratio} | {met} |"


def machine():
    def first(path, pattern):
        found = re.search(pattern, Path(path).read_text(), re.M)
        return found.group(1).strip() if found else "unknown"

    virtual = first("/proc/cpuinfo", r"^flags.*\b(hypervisor)\b") == "hypervisor"
    memory = int(first("/proc/meminfo", r"^MemTotal:\s*(\d+)")) / (1 << 20)
    rustc = subprocess.run(["rustc", "-V"], capture_output=True, text=True, check=True).stdout.strip()
    where = subprocess.run(["df", "--output=fstype", tempfile.gettempdir()], capture_output=True, text=True, check=False)
    file_system = (where.stdout.split() or ["unknown"])[-1]
    return (
        f"Measured on {time.strftime('%Y-%m-%d')}: {first('/proc/cpuinfo', r'^model name.*: (.*)')}, {os.cpu_count()} processors"
        f"{' of a virtual machine' if virtual else ''}, {memory:.0f} GiB, Linux {platform.release()}, {file_system}; {rustc}; load before it "
        f"{os.getloadavg()[0]:.1f}.\n"
    )


def text(rows):
    return "\n".join(["| work | goal | measured | beside | ratio | met |", "|---|---|---|---|---|---|", *rows])


def put(name, about, rows):
    """Puts a table between the marks of this name. `about` says where it was measured."""
    marks = re.compile(rf"(<!-- {name}: from here [^\n]*-->\n).*(<!-- {name}: end -->\n)", re.DOTALL)
    page, count = marks.subn(lambda mark: f"{mark[1]}\n{about}\n{text(rows)}\n\n{mark[2]}", PAGE.read_text())
    assert count == 1, f"{PAGE} has no marks of {name}"
    PAGE.write_text(page)
