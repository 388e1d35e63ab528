"""Writes the two lists of names that the scan of pickles knows of Python itself.

library.txt has the first parts of all modules of Python's own library, of each
Python that is given; renamed.txt has what Python imports for the names of
Python 2 (pickle's own table, _compat_pickle). To make them again:

    python make_names.py python2.7 python3.6 ... python3.13

The lists were made with 2.7.18, 3.6.15, 3.7.16, 3.8.18, 3.9.18, 3.10.13,
3.11.7, 3.12.1 and 3.13.0. What 3.14 has besides is in LATER, as its
documentation names it, and OTHER has modules of other systems. __main__ is left
out: it is the code of whoever wrote the pickle.
"""

import json
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent.parent.parent / "crates/popef-payload/src/pickle/names"
LATER = "_hmac _types _zstd annotationlib compression _remote_debugging _ast_unparse".split()
OTHER = """_winapi _winreg winreg winsound msvcrt nt ntpath nturl2path _msi msilib _overlapped _scproxy _osx_support
    _aix_support _wmi ce os2 riscos mac macpath EasyDialogs Carbon __builtins__ test
    popen2 sets _testcapi""".split()

FIND = r"""
import json, os, sys
try:
    names = set(sys.stdlib_module_names)
except AttributeError:
    names = set(sys.builtin_module_names)
library = os.path.dirname(os.__file__)
places = [library, os.path.join(library, "lib-dynload"), os.path.join(library, "lib-tk")]
places += [os.path.join(library, part) for part in os.listdir(library) if part.startswith("plat-")]
for place in places:
    if os.path.isdir(place):
        for entry in os.listdir(place):
            path = os.path.join(place, entry)
            if entry.endswith((".py", ".so")) or os.path.exists(os.path.join(path, "__init__.py")):
                names.add(entry.split(".")[0])
names -= {"__main__", "java", "javax", "org"}
compat = {}
if sys.version_info > (3,):
    import _compat_pickle
    compat = {
        "modules": sorted(_compat_pickle.IMPORT_MAPPING.items()),
        "names": sorted((list(old), list(new)) for old, new in _compat_pickle.NAME_MAPPING.items()),
    }
print(json.dumps([sorted(name for name in names if name.replace("_", "a").isalnum()), compat]))
"""


def main():
    library, modules, names = {*LATER, *OTHER}, {}, {}
    for python in sys.argv[1:]:
        found, compat = json.loads(subprocess.check_output([python, "-S", "-c", FIND]))
        library.update(name for name in found if not name.startswith("_sysconfigdata"))
        modules.update(compat.get("modules", []))
        names.update({tuple(old): new for old, new in compat.get("names", [])})
    (FOLDER / "library.txt").write_text("".join(f"{name}\n" for name in sorted(library)))
    lines = [f"{old} {new}\n" for old, new in sorted(modules.items())]
    lines += [f"{' '.join(old)} {' '.join(new)}\n" for old, new in sorted(names.items())]
    (FOLDER / "renamed.txt").write_text("".join(lines))
    print(len(library), "modules,", len(modules), "renamed modules,", len(names), "renamed names")


if __name__ == "__main__":
    main()
