"""Prints 0 or 1 for each pair of files: whether they mean the same. It compares what the official library read from them.

Argument: the lines of popef/tests/read_with_pycapnp.py.
"""

import json
import sys

EXECUTABLE, METADATA, TENSOR, FEED, OPAQUE = range(5)
# By the number of the data type.
SIZES = [1, 1, 2, 4, 8, 1, 1, 2, 2, 4, 4, 8, 8, 1, 1]


def key(kind, info):
    return kind, info["executable" if kind == METADATA else "name"], info["executable"] if kind == OPAQUE else ""


def meaning(kind, info, data):
    if kind == METADATA:
        lists = {"engineOptions": "name", "deviceOptions": "name", "programsMap": "index"}
        sorted_lists = {name: sorted(info[name], key=lambda item: item[by]) for name, by in lists.items()}
        anchors = sorted(info["anchors"], key=lambda anchor: (anchor["name"], anchor["type"]))
        return {**info, **sorted_lists, "anchors": anchors}
    if kind in (TENSOR, FEED):
        size = SIZES[info["tensorInfo"]["dataType"]] * info.get("numTensors", 1)
        for extent in info["tensorInfo"]["shape"]:
            size *= extent
        return info, data[: 2 * size]
    # How an executable is compressed does not count; its data is unpacked already.
    return data


def main():
    files = []
    for line in open(sys.argv[1]):
        blobs = json.loads(line)
        keyed = [(blob["header"]["type"], blob["info"], blob["data"]) for blob in blobs]
        # The sort is stable: several blobs with the same key stay in their order.
        files.append(sorted(((key(kind, info), meaning(kind, info, data)) for kind, info, data in keyed), key=lambda blob: blob[0]))
    print("".join("01"[one != other] for one in files for other in files), end="")


main()
