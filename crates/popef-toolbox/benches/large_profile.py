"""Writes a large synthetic profiling report, piece by piece, as graph.json and execution.json in a folder.

    python3 large_profile.py FOLDER --tiles 1472 --ipus 1 --steps 10000 --exchanges 50 --compute-sets 50
    python3 large_profile.py FOLDER --graph-bytes 1e9      # as many exchanges as that takes

It shows sizes and not a real program: values are random, and no whole report of Poplar is public.
"""

import argparse
import json
import os
import random

CATEGORIES = ["variable", "vertexCode", "controlCode", "stack", "internalExchangeCode", "constant", "message", "multiple"]


def write(folder, tiles, ipus, steps, exchanges, compute_sets, graph_bytes, distinct=False):
    os.makedirs(folder, exist_ok=True)
    choose = random.Random(19)
    # A few lists of text are used again and again: making random ones takes longer than all else.
    row = lambda most: "[" + ",".join(str(choose.randrange(most) if choose.random() < 0.7 else 0) for _ in range(tiles)) + "]"
    cycles, data = [row(900) for _ in range(16)], [row(2000) for _ in range(16)]
    if graph_bytes:
        exchanges = max(1, int(graph_bytes / (3 * (len(data[0]) + 1))))
    with open(os.path.join(folder, "graph.json"), "w", encoding="utf-8") as out:

        def lists(rows, count):
            out.write("[")
            for nth in range(count):
                out.write(("," if nth else "") + rows[nth % len(rows)])
            out.write("]")

        target = {"type": "IPU_MODEL", "numIPUs": ipus, "numTiles": tiles, "tilesPerIPU": tiles // ipus}
        target |= {"bytesPerTile": 638976, "bytesPerIPU": 638976 * tiles // ipus, "clockFrequency": 1850000000}
        target |= {"totalMemory": 638976 * tiles, "minSyncDelay": 20, "relativeSyncDelayByTile": [1] * (tiles // ipus)}
        out.write('{"target":' + json.dumps(target) + ',"computeSets":{"names":')
        out.write(json.dumps([f"layer{nth % 24}/Conv_{nth}/Convolve" for nth in range(compute_sets)]))
        out.write(',"cycleEstimates":{"cyclesByTile":')
        lists(cycles, compute_sets)
        out.write('}},"exchanges":{"bytesReceivedByTile":')
        lists(data, exchanges)
        out.write(',"bytesSentByTile":')
        lists(data, exchanges)
        out.write(',"cyclesByTile":')
        lists(cycles, exchanges)
        out.write('},"programs":')
        programs = [{"type": "Sequence", "children": list(range(1, 1 + compute_sets + exchanges))}]
        programs += [{"type": "OnTileExecute", "computeSet": nth, "name": f"layer{nth % 24}/Conv_{nth}"} for nth in range(compute_sets)]
        programs += [{"type": "DoExchange", "exchange": nth, "name": f"layer{nth % 24}/Exchange_{nth}"} for nth in range(exchanges)]
        json.dump(programs, out)
        sizes = [[choose.randrange(90000) for _ in range(tiles)] for _ in CATEGORIES]
        total = [sum(tile) for tile in zip(*sizes)]
        out.write(',"controlPrograms":[0],"functionPrograms":[],"memory":{"byTile":')
        json.dump({"total": total, "totalIncludingGaps": [tile + 9000 for tile in total]}, out)
        out.write(',"byCategory":')
        json.dump({name: {"total": size} for name, size in zip(CATEGORIES, sizes)}, out)
        out.write(',"liveness":')
        nodes = [{"bytes": choose.randrange(10**8), "children": []} for _ in range(min(compute_sets + exchanges, 50000))]
        top = {"bytes": 0, "children": nodes}
        json.dump({"alwaysLive": {"bytesByTile": sizes[0]}, "notAlwaysLive": {"maxBytesByTile": sizes[1], "byProgram": [top]}}, out)
        out.write("}}")
    with open(os.path.join(folder, "execution.json"), "w", encoding="utf-8") as out:
        out.write('{"profilerMode":"IPU_MODEL","simulation":{"steps":[')
        now = 0
        for nth in range(steps):
            length = choose.randrange(50, 900)
            index = nth // 2 % (exchanges if nth % 2 else compute_sets)
            step = {"cycles": length, "cyclesFrom": now, "cyclesTo": now + length - 1, "tileBalance": 0.5, "activeTiles": tiles}
            if nth % 2:
                step |= {"type": "DoExchange", "exchange": index, "program": 1 + compute_sets + index, "totalData": length}
                step |= {"name": f"layer{index % 24}/Exchange_{index}"}
            else:
                step |= {"type": "OnTileExecute", "computeSet": index, "program": 1 + index, "threadBalance": 0.5}
                step |= {"name": f"layer{index % 24}/Conv_{index}"}
            if distinct:
                step |= {"tileBalance": choose.random(), "activeTileBalance": choose.random(), "cyclesOverlapped": choose.randrange(40)}
                step |= {"dataBalance" if nth % 2 else "threadBalance": choose.random()}
            out.write(("," if nth else "") + json.dumps(step))
            now += length - choose.randrange(40)
        out.write(f'],"cycles":{now + 900},"tileCycles":{{"compute":{now * tiles // 2},"doExchange":{now * tiles // 3},"sync":{now}}}}}}}')


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder")
    for option, default in [("tiles", 1472), ("ipus", 1), ("steps", 10000), ("exchanges", 50), ("compute-sets", 50)]:
        arguments.add_argument(f"--{option}", type=int, default=default)
    arguments.add_argument("--graph-bytes", type=float, default=0)
    arguments.add_argument("--distinct", action="store_true", help="no step has the numbers of another")
    write(**vars(arguments.parse_args()))
