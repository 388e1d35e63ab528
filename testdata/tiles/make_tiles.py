#!/usr/bin/env python3
"""Writes model.tensor_map.json and vars.json.

Both are synthetic: no such file is public as a whole. The form of the first is that of GetTensorMappingJson in Graphcore's
TensorFlow (driver/tools/poplar_util.cc, Apache-2.0), and that of the second is in the document "Poplar Profile Data", chapter
"Lowered variables report". Numbers and names are made up.
"""

import json
import random
from pathlib import Path

HERE = Path(__file__).parent


def even(elements, tiles, grain):
    """Elements on each tile, in whole grains."""
    grains = -(-elements // grain)
    ends = [min(elements, (part + 1) * grains // tiles * grain) for part in range(tiles)]
    return [[tile, end - begin] for tile, (begin, end) in enumerate(zip([0] + ends, ends)) if end > begin]


def tensor(instruction, shape, element_type, tiles, name, constant=0, aliases=0):
    elements = 1
    for size in shape:
        elements *= size
    assert elements == sum(count for _, count in tiles), instruction
    return [instruction, 0, shape, element_type, constant, aliases, elements, tiles, name]


def tensor_map():
    entry = [
        tensor("arg0.1", [784, 10], "half", even(7840, 116, 4), "dense/kernel"),
        tensor("arg1.2", [10], "float", [[0, 10]], "dense/bias"),
        tensor("dot.3", [4096, 512], "half", even(4096 * 512, 1472, 4), "dense/MatMul"),
        tensor("gather.4", [1000, 64], "float", even(64000, 40, 2), "embedding/gather"),
        tensor("constant.5", [], "int", [[1471, 1]], "zero", constant=1),
    ]
    fusion = [
        tensor("broadcast.1", [2048, 16], "half", [[7, 2048 * 16]], "fusion/broadcast", aliases=1),
        tensor("add.2", [2048, 16], "half", even(2048 * 16, 512, 4), "fusion/add"),
    ]
    text = json.dumps({"mappings": {"entry": entry, "fusion": fusion}}, separators=(",", ":"))
    (HERE / "model.tensor_map.json").write_text(text)


def variables():
    random.seed(7)
    names = {"controlCode": "code", "vertexCode": "codelet", "variable": "v", "message": "host", "stack": "stack"}
    all_variables, order = [], []

    def add(tile, category, size, offset, **info):
        number = len(all_variables)
        always = info.get("alwaysLive", False)
        all_variables.append({
            "var": number,
            "info": {
                "allocated": offset is not None, "tile": tile, "name": f"{names[category]}{number}#{tile}",
                "sizeBytes": size, "alignment": 8, "offset": offset or 0, "category": category, "isConstant": False,
                "alwaysLive": always, "executable": category.endswith("Code"), "vertexCode": category == "vertexCode",
                "lowest256KB": category.endswith("Code"), "equivalenceClass": info.get("equivalenceClass", 0),
                "inInterleavedMem": (offset or 0) >= 131072,
            },
        })
        order[tile].append(number)

    for tile in range(4):
        order.append([])
        add(tile, "stack", 3168, 0, alwaysLive=True)
        add(tile, "controlCode", 1200 + 400 * tile, 3168, alwaysLive=True)
        add(tile, "vertexCode", 5000, 8192, alwaysLive=True)
        # Activations share their bytes: those of even and odd layers are never live together with others of their kind.
        for layer in range(8):
            size = 8 * random.randrange(512, 2048)
            add(tile, "variable", size, 16384 + 16384 * (layer % 2), equivalenceClass=1 + layer % 2)
        add(tile, "variable", 65536 + 1024 * tile, 131072, alwaysLive=True)
        add(tile, "message", 512, 131072 + 70000)
        add(tile, "variable", 64, None)
    # More than the tile has.
    add(3, "variable", 70000, 200000, equivalenceClass=3)
    document = {
        "numTiles": 1216,
        "targetMemoryInfo": {
            "tileMemory": 262144, "interleavedMemoryStart": 131072,
            "memoryElementOffsets": [0, 16384, 32768, 49152, 65536, 81920, 98304, 114688, 131072, 163840, 196608, 229376],
            "supervisorInstrFetchDelay": 64,
        },
        "vars": all_variables,
        # Layers interfere with their neighbours, which are of the other kind.
        "equivalenceClassInterference": [[], [2, 3], [1, 3], [1, 2]],
        "allocationOrderByTile": order,
    }
    (HERE / "vars.json").write_text(json.dumps(document, separators=(",", ":")))


tensor_map()
variables()
