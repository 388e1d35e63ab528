"""Writes small profiling reports, each with one thing to find: for the rules of
`popef profile --check` that none of the samples beside this folder breaks, and
one report in which there is nothing to find. What the rules have to say of each
stands in expect.json, by hand. All of them are synthetic. To make them again:

    python make_rules.py
"""

import json
from copy import deepcopy
from pathlib import Path

FOLDER = Path(__file__).parent
TILES = 8
TILE = 262144


def by_tile(data, gaps=0):
    """Memory without interleaved data. `gaps` is on the last tile."""
    data = list(data)
    needs = data[:-1] + [data[-1] + gaps]
    fits = [min(size, TILE) for size in data]
    over = [size - fit for size, fit in zip(data, fits)]
    zero = [0] * TILES
    return {
        "interleaved": zero,
        "interleavedIncludingGaps": zero,
        "nonInterleaved": fits,
        "nonInterleavedIncludingGaps": fits[:-1] + [fits[-1] + gaps],
        "overflowed": over,
        "overflowedIncludingGaps": over,
        "total": data,
        "totalIncludingGaps": needs,
    }


def category(sizes):
    zero = [0] * TILES
    fits = [min(size, TILE) for size in sizes]
    over = [size - fit for size, fit in zip(sizes, fits)]
    empty = {"nonOverlapped": zero, "overlapped": zero}
    return {
        "interleaved": empty,
        "nonInterleaved": {"nonOverlapped": fits, "overlapped": zero},
        "overflowed": {"nonOverlapped": over, "overlapped": zero},
        "total": list(sizes),
    }


def memory(categories, gaps=0, always=0.5, code=None):
    """`categories` by name, on each tile. `always` is the share that is always live."""
    sums = [sum(sizes[tile] for sizes in categories.values()) for tile in range(TILES)]
    live = [int(size * always) for size in sums]
    rest = [size - part for size, part in zip(sums, live)]
    memory = {
        "byTile": by_tile(sums, gaps),
        "byCategory": {name: category(sizes) for name, sizes in categories.items()},
        "liveness": {
            "alwaysLive": {"bytesByTile": live},
            "notAlwaysLive": {"maxBytesByTile": rest, "byProgram": [{"bytes": 0, "children": [{"bytes": sum(rest)}]}]},
        },
    }
    if code is not None:
        zero = [[0] * TILES for _ in code]
        names = ["copyPtrBytes", "descriptorBytes", "edgePtrBytes", "paddingBytes", "vertexDataBytes"]
        memory["byVertexType"] = {"codeBytes": code, "totalBytes": code, **{name: zero for name in names}}
    return memory


def graph(memory, types=("popops::Fill<half>",)):
    zero = [0] * TILES
    return {
        "target": {
            "type": "IPU_MODEL",
            "bytesPerIPU": TILE * TILES,
            "bytesPerTile": TILE,
            "clockFrequency": 1600000000,
            "numIPUs": 1,
            "tilesPerIPU": TILES,
            "numTiles": TILES,
            "totalMemory": TILE * TILES,
            "minSyncDelay": 10,
            "relativeSyncDelayByTile": zero,
        },
        "optimizationInfo": {},
        "graph": {"numComputeSets": 1, "numEdges": 1, "numVars": 1, "numVertices": 1},
        "vertexTypes": {"names": list(types), "sizes": [8] * len(types)},
        "computeSets": {"names": ["work"], "vertexCounts": [[TILES]], "vertexTypes": [[0]]},
        "exchanges": {"bytesReceivedByTile": [], "bytesSentByTile": [], "cyclesByTile": []},
        "externalExchanges": {"bytesReceivedByTile": [], "bytesSentByTile": [], "estimatedCyclesByTile": []},
        "hostExchanges": {"bytesReceivedByTile": [], "bytesSentByTile": [], "estimatedCyclesByTile": []},
        "programs": [
            {"type": "Sequence", "children": [1]},
            {"type": "OnTileExecute", "computeSet": 0, "name": "work/OnTileExecute"},
        ],
        "controlPrograms": [0],
        "functionPrograms": [],
        "memory": memory,
    }


def work(start, cycles, active=TILES, balance=0.9, threads=0.8):
    return {
        "type": "OnTileExecute",
        "program": 1,
        "name": "work/OnTileExecute",
        "computeSet": 0,
        "cycles": cycles,
        "cyclesFrom": start,
        "cyclesTo": start + cycles - 1,
        "cyclesOverlapped": 0,
        "tileBalance": balance,
        "activeTiles": active,
        "activeTileBalance": min(1.0, balance * TILES / active),
        "threadBalance": threads,
    }


def copy(start, cycles):
    return {
        "type": "StreamCopy",
        "cycles": cycles,
        "cyclesFrom": start,
        "cyclesTo": start + cycles - 1,
        "tileBalance": 1.0,
        "activeTiles": TILES,
        "activeTileBalance": 1.0,
        "totalData": 64,
        "dataBalance": 1.0,
    }


def add_copies(graph, execution):
    """Gives the graph the exchanges and the programs of the copies: one for each number of cycles."""
    exchanges, programs = graph["hostExchanges"], graph["programs"]
    numbers = {}
    for step in execution["simulation"]["steps"]:
        if step["type"] != "StreamCopy":
            continue
        number = numbers.setdefault(step["cycles"], len(numbers))
        if number == len(exchanges["estimatedCyclesByTile"]):
            exchanges["bytesReceivedByTile"].append([step["totalData"] // TILES] * TILES)
            exchanges["bytesSentByTile"].append([0] * TILES)
            exchanges["estimatedCyclesByTile"].append([step["cycles"]] * TILES)
            programs[0]["children"].append(len(programs))
            programs.append({"type": "StreamCopy", "exchange": number})
        step.update(hostExchange=number, program=2 + number)
    execution["programTrace"] = [0] + [step["program"] for step in execution["simulation"]["steps"]]


def execution(steps, shares, mode="IPU_MODEL"):
    """`shares` of the activities in all cycles."""
    end = max(step["cyclesTo"] + 1 for step in steps)
    whole = end * TILES
    cycles = {name: int(whole * share) for name, share in shares.items()}
    cycles["streamCopy"] = TILES * sum(step["cycles"] for step in steps if step["type"] == "StreamCopy")
    zero = dict.fromkeys(["copySharedStructure", "doExchange", "globalExchange"], 0)
    return {
        "profilerMode": mode,
        "simulation": {"cycles": end, "tileCycles": {**zero, **cycles}, "steps": steps},
    }


def each(size):
    return [size] * TILES


# Nearly full, and nothing else is to be said of it.
PLAIN = {"variable": each(100_000), "vertexCode": each(20_000), "controlCode": each(4_000)}
FULL = {"variable": each(225_000), "vertexCode": each(20_000), "controlCode": each(4_000)}
EVEN = {"compute": 0.85, "sync": 0.1}
CASES = {
    "healthy": (graph(memory(FULL)), execution([copy(0, 50), work(50, 950)], EVEN)),
    "full-median": (graph(memory({"variable": [60_000] * 7 + [250_000]})), None),
    "exchange-code": (graph(memory({**PLAIN, "internalExchangeCode": each(30_000), "hostExchangeCode": each(9_000)})), None),
    "control-code": (graph(memory({**PLAIN, "controlCode": each(50_000), "controlTable": each(100)})), None),
    "always-live": (graph(memory(FULL, always=0.97)), None),
    "temporary": (graph(memory(FULL, always=0.2)), None),
    "gaps": (graph(memory(PLAIN, gaps=120_000)), None),
    "threads": (graph(memory(PLAIN)), execution([copy(0, 50), work(50, 950, threads=0.17)], EVEN)),
    "few-tiles": (graph(memory(PLAIN)), execution([copy(0, 50), work(50, 950, active=1, balance=0.11)], EVEN)),
    "uneven": (graph(memory(PLAIN)), execution([copy(0, 50), work(50, 950, balance=0.3)], EVEN)),
    "sync": (
        graph(memory(PLAIN)),
        execution([copy(0, 50), work(50, 950)], {"compute": 0.4, "sync": 0.58}),
    ),
    "host": (
        graph(memory(PLAIN)),
        execution([copy(0, 600), work(100, 900)], {"compute": 0.5, "sync": 0.05}),
    ),
    "overlap": (
        graph(memory(PLAIN)),
        execution([copy(0, 200), work(200, 500), copy(700, 100), work(790, 210)], EVEN),
    ),
    "twins": (
        graph(
            memory(PLAIN, code=[each(9_000), each(8_000), each(3_000)]),
            types=("popops::Fill<float>", "popops::Fill<half>", "poplibs_cast<float,half>"),
        ),
        None,
    ),
    "instrumented": (graph(memory({**PLAIN, "instrumentationResults": each(64)})), None),
}

def without_memory():
    bare = deepcopy(CASES["healthy"][0])
    del bare["memory"]
    return bare


CASES["no-memory"] = (without_memory(), None)

# Of the two exchanges, the second has nearly all of the code.
exchanges = CASES["exchange-code"][0]
exchanges["exchanges"] = {
    "bytesReceivedByTile": [each(64), each(4_096)],
    "bytesSentByTile": [each(64), each(4_096)],
    "cyclesByTile": [each(20), each(1_100)],
    "codeBytesByTile": [each(500), each(29_500)],
}
exchanges["programs"][0]["children"] += [2, 3]
exchanges["programs"] += [
    {"type": "DoExchange", "exchange": 0, "name": "work/Pre"},
    {"type": "DoExchange", "exchange": 1, "name": "work/Rearrange"},
]

for graph_half, execution_half in CASES.values():
    if execution_half is not None:
        add_copies(graph_half, execution_half)

# The copy is another one than that of the graph.
slower = deepcopy(CASES["healthy"][1])
slower["simulation"]["steps"][0].update(cycles=60, totalData=128)
CASES["other-run"] = (CASES["healthy"][0], slower)

for name, (graph_half, execution_half) in CASES.items():
    for half, report in [("graph", graph_half), ("execution", execution_half)]:
        if report is not None:
            text = json.dumps(report, separators=(",", ":"))
            (FOLDER / f"{name}.{half}.json").write_text(text + "\n", newline="\n")
