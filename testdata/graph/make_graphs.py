#!/usr/bin/env python3
"""Writes IR dumps as PopART does.

They are synthetic: no dump of a real model is public. The bytes are laid out as by Ir::serialise (willow/src/ir.cpp) and
OpJsonSerialiser (willow/src/opserialiser.cpp) in Graphcore's PopART (MIT): all values are texts, texts are not escaped, outputs have
neither shape nor type, an If does not name its branches, and the first graph is the main graph. Attributes are in the order in which
Op::appendAttributes writes them. Graphs, names and numbers are made up.

NAME.json is in schedule order, as Session._serializeIr writes it. NAME-by-id.json is in another order, as POPART_IR_DUMP writes it.
NAME.facts.json has what is true of the graphs of NAME.json, counted here by following each call.
"""

import json
import random
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent


class Graph:
    """A graph: its name, the infos of its tensors, and its ops in schedule order."""

    def __init__(self, name):
        self.name, self.infos, self.ops = name, {}, []

    def tensor(self, name, shape, element_type="FLOAT16"):
        self.infos[name] = (shape, element_type)
        return name

    def op(self, op_type, inputs, outputs, name="", ipu=None, stage=None, phase=None, io=False, recompute=False,
           context="ExecutionContext::Normal", **own):
        """Adds an op. `outputs` are (name, shape, type) or names of tensors that are there."""
        made = []
        for output in outputs:
            made.append(output if isinstance(output, str) else self.tensor(*output))
        attributes = [("recompute", "YES" if recompute else "NO")]
        if ipu is not None:
            attributes.append(("__ipu_number", ipu))
        attributes.append(("tileSet", int(io)))
        attributes += [(key, value) for key, value in own.items()]
        if phase is not None:
            attributes.append(("__execution_phase", phase))
        attributes.append(("__execution_context", context))
        if stage is not None:
            attributes.append(("__pipeline_stage", stage))
        attributes.append(("scope", self.name if self.name != "maingraph" else ""))
        self.ops.append((op_type, name, list(inputs), made, attributes))
        return made[0] if made else None

    def call(self, callee, inputs, outputs, **settings):
        return self.op("Call", inputs, outputs, name=f"Call_{callee}", callee=callee, **settings)

    def text(self, order):
        return ",".join(self.op_text(*self.ops[at]) for at in order)

    def op_text(self, op_type, name, inputs, outputs, attributes):
        """An op, as OpJsonSerialiser writes it."""
        shape = lambda name: "[" + " ".join(map(str, self.infos[name][0])) + "]"
        ins = ",".join(
            f'{{"name":"{name}","shape":"{shape(name)}","type":"{self.infos[name][1]}","index":"{index}"}}'
            for index, name in enumerate(inputs) if name is not None)
        outs = ",".join(f'{{"name":"{name}","index":"{index}"}}' for index, name in enumerate(outputs))
        pairs = ",".join(f'"{key}":"{value}"' for key, value in attributes)
        return f'{{"type":"{op_type}","name":"{name}","inputs":[{ins}],"outputs":[{outs}],"attributes":{{{pairs}}}}}'


def serialise(graphs, shuffled=None):
    """All graphs, as Ir::serialise writes them."""
    parts = []
    for graph in graphs:
        order = list(range(len(graph.ops)))
        if shuffled:
            shuffled.shuffle(order)
        parts.append(f'"{graph.name}" :[{graph.text(order)}]')
    return "{" + ",".join(parts) + "}"


BATCH, WIDTH, CLASSES, LAYERS = 16, 256, 10, 4
LAYER, LAYER_GRAD = "layer_fn_subgraph(0)", "layer_fn_grad_subgraph(0)"
STEP, UPDATE = "accumulate_step_subgraph(0)", "sgd_update_subgraph(0)"
SKIP, KEEP, OLD = "skip_update_subgraph(0)", "keep_update_subgraph(0)", "debug_print_subgraph(0)"


def layer():
    graph = Graph(LAYER)
    x = graph.tensor(f"{LAYER}/x", [BATCH, WIDTH])
    w = graph.tensor(f"{LAYER}/w", [WIDTH, WIDTH])
    b = graph.tensor(f"{LAYER}/b", [WIDTH])
    y = graph.op("MatMul", [x, w], [(f"{LAYER}/MatMul:0", [BATCH, WIDTH])], name="layer/MatMul")
    y = graph.op("Add", [y, b], [(f"{LAYER}/Add:0", [BATCH, WIDTH])], name="layer/Add")
    graph.op("GeluInplace", [y], [(f"{LAYER}/Gelu:0", [BATCH, WIDTH])], name="layer/Gelu", recompute=True)
    return graph


def layer_grad():
    graph = Graph(LAYER_GRAD)
    x = graph.tensor(f"{LAYER_GRAD}/x", [BATCH, WIDTH])
    w = graph.tensor(f"{LAYER_GRAD}/w", [WIDTH, WIDTH])
    dy = graph.tensor(f"{LAYER_GRAD}/dy", [BATCH, WIDTH])
    dz = graph.op("GeluGrad", [x, dy], [(f"{LAYER_GRAD}/GeluGrad:0", [BATCH, WIDTH])])
    wt = graph.op("TransposeInplace", [w], [(f"{LAYER_GRAD}/wt", [WIDTH, WIDTH])], perm="[1 0]")
    xt = graph.op("TransposeInplace", [x], [(f"{LAYER_GRAD}/xt", [WIDTH, BATCH])], perm="[1 0]")
    graph.op("MatMul", [dz, wt], [(f"{LAYER_GRAD}/dx", [BATCH, WIDTH])])
    graph.op("MatMul", [xt, dz], [(f"{LAYER_GRAD}/dw", [WIDTH, WIDTH])])
    graph.op("ReduceSum", [dz], [(f"{LAYER_GRAD}/db", [WIDTH])], axes="[0]")
    return graph


def step(layers):
    """One micro-batch: forwards, loss, backwards, sums of the gradients."""
    graph = Graph(STEP)
    scoped = lambda name: f"{STEP}/{name}"
    weights = [graph.tensor(scoped(f"w{n}"), [WIDTH, WIDTH]) for n in range(layers)]
    biases = [graph.tensor(scoped(f"b{n}"), [WIDTH]) for n in range(layers)]
    head = graph.tensor(scoped("head"), [WIDTH, CLASSES])
    sums = [graph.tensor(scoped(f"sum{n}"), [WIDTH, WIDTH], "FLOAT") for n in range(layers)]
    stage = lambda n: n * 2 // layers
    x = graph.op("HostLoad", [], [(scoped("images"), [BATCH, WIDTH])], ipu=0, stage=0, io=True,
                 hostStreamTensorId="images_stream")
    labels = graph.op("HostLoad", [], [(scoped("labels"), [BATCH], "INT32")], ipu=1, stage=1, io=True,
                      hostStreamTensorId="labels_stream")
    activations = [x]
    for n in range(layers):
        if n and stage(n) != stage(n - 1):
            x = graph.op("IpuCopy", [x], [(scoped(f"copy{n}"), [BATCH, WIDTH])], stage=stage(n - 1),
                         __sourceIpus=f"[{stage(n - 1)}]", __destIpu=stage(n))
        x = graph.call(LAYER, [x, weights[n], biases[n]], [(scoped(f"y{n}"), [BATCH, WIDTH])], ipu=stage(n), stage=stage(n))
        activations.append(x)
    logits = graph.op("MatMul", [x, head], [(scoped("logits"), [BATCH, CLASSES])], ipu=1, stage=1)
    probabilities = graph.op("Softmax", [logits], [(scoped("probs"), [BATCH, CLASSES])], ipu=1, stage=1, axis=1)
    graph.op("Nll", [probabilities, labels], [(scoped("loss"), [], "FLOAT16")], ipu=1, stage=1, reductionType="Mean")
    d = graph.op("NllWithSoftmaxGradDirect", [probabilities, labels], [(scoped("dlogits"), [BATCH, CLASSES])], ipu=1, stage=1)
    d = graph.op("MatMul", [d, head], [(scoped("dhead"), [BATCH, WIDTH])], ipu=1, stage=1)
    for n in reversed(range(layers)):
        back = 3 - stage(n)
        grads = [(scoped(f"dx{n}"), [BATCH, WIDTH]), (scoped(f"dw{n}"), [WIDTH, WIDTH]), (scoped(f"db{n}"), [WIDTH])]
        d = graph.call(LAYER_GRAD, [activations[n], weights[n], d], grads, ipu=stage(n), stage=back)
        graph.op("Accumulate", [sums[n], scoped(f"dw{n}")], [(scoped(f"sum{n}_new"), [WIDTH, WIDTH], "FLOAT")],
                 ipu=stage(n), stage=back, factor="1")
    return graph


def update():
    graph = Graph(UPDATE)
    w = graph.tensor(f"{UPDATE}/w", [WIDTH, WIDTH])
    g = graph.tensor(f"{UPDATE}/g", [WIDTH, WIDTH], "FLOAT")
    cast = graph.op("Cast", [g], [(f"{UPDATE}/g16", [WIDTH, WIDTH])], to="FLOAT16")
    graph.op("SGD0VarUpdate", [w, cast], [(f"{UPDATE}/w_new", [WIDTH, WIDTH])])
    return graph


def branch(name, op_type):
    graph = Graph(name)
    g = graph.tensor(f"{name}/norm", [], "FLOAT")
    graph.op(op_type, [g], [(f"{name}/out", [], "FLOAT")])
    return graph


def main(layers, trips):
    graph = Graph("maingraph")
    outer = "ExecutionContext::AccumulateOuterFragment"
    weights = [graph.tensor(f"layers.{n}.weight", [WIDTH, WIDTH]) for n in range(layers)]
    biases = [graph.tensor(f"layers.{n}.bias", [WIDTH]) for n in range(layers)]
    head = graph.tensor("head.weight", [WIDTH, CLASSES])
    sums = [graph.tensor(f"Accl___layers.{n}.weight", [WIDTH, WIDTH], "FLOAT") for n in range(layers)]
    graph.op("RemoteCodeLoad", [], [], name="load_step", phase=0, io=True, gid=STEP, destinationType="ExecutableMemory")
    count = graph.tensor("trip_count", [], "INT32")
    going_on = graph.tensor("keep_going", [], "BOOL")
    graph.op("Loop", [count, going_on, *weights, *biases, head, *sums], [("loss", [])], name="Loop_accumulate", phase=0,
             callee=STEP, tripCountValue=trips)
    graph.op("RemoteCodeLoad", [], [], name="load_update", phase=2, io=True, gid=UPDATE, destinationType="ExecutableMemory")
    norm = graph.op("ReduceL2", [sums[0]], [("norm", [], "FLOAT")], phase=2, ipu=0)
    limit = graph.tensor("clip_limit", [], "FLOAT")
    too_large = graph.op("Greater", [norm, limit], [("too_large", [], "BOOL")], phase=2, ipu=0)
    graph.op("If", [too_large, norm], [("factor", [], "FLOAT")], name="clip", phase=2, ipu=0)
    for n in range(layers):
        graph.call(UPDATE, [weights[n], sums[n]], [(f"layers.{n}.weight_new", [WIDTH, WIDTH])], ipu=n * 2 // layers, phase=2,
                   context=outer)
        graph.op("AccumulatorZero", [sums[n]], [(f"Accl___layers.{n}.weight_zero", [WIDTH, WIDTH], "FLOAT")],
                 ipu=n * 2 // layers, phase=2, context=outer)
    graph.op("SGD0VarUpdate", [head, "factor"], [("head.weight_new", [WIDTH, CLASSES])], ipu=1, phase=2, context=outer)
    graph.op("HostStore", ["loss"], [], phase=2, io=True, hostStreamTensorId="loss_stream")
    return graph


def training(layers=LAYERS, trips=8, debug=True):
    graphs = [main(layers, trips), step(layers), layer(), layer_grad(), update(), branch(SKIP, "Zero"), branch(KEEP, "Identity")]
    return graphs + ([branch(OLD, "PrintTensor")] if debug else [])


def code_loading():
    """The advanced example of code loading in PopXL's user guide, section "Nested code loading", as a dump would show it."""
    main, g1, g2 = Graph("maingraph"), Graph("expensive_id_subgraph(0)"), Graph("load_g1_subgraph(0)")
    x = main.tensor("x", [2, 3], "FLOAT")
    main.op("RemoteCodeLoad", [], [], gid=g1.name, destinationType="ExecutableMemory")
    main.call(g2.name, [], [])
    main.call(g1.name, [x], [("y", [2, 3], "FLOAT")])
    g2.op("RemoteCodeLoad", [], [], gid=g1.name, destinationType="ExecutableMemory")
    x = g1.tensor(f"{g1.name}/x", [2, 3], "FLOAT")
    x = g1.op("Transpose", [x], [(f"{g1.name}/T:0", [3, 2], "FLOAT")], perm="[1 0]")
    g1.op("Transpose", [x], [(f"{g1.name}/T:1", [2, 3], "FLOAT")], perm="[1 0]")
    return [main, g2, g1]


def hostile():
    """What no PopART writes, or only with odd names: quotes, markup, control characters, recursion, counts beyond all numbers."""
    main, deep, again, back = (Graph(name) for name in ['a "quoted" model', "deep_subgraph(0)", "again", "back"])
    x = main.tensor('the "best", x', [2], "FLOAT")
    script = main.op("Add", [x, x], [("<script>alert(1)</script>", [2], "FLOAT")], name='C:\\model\\"add"')
    main.op("NotKnown", [script], [("end --> %% graph\t\x1b[31m", [2], "FLOAT")], name="\u202egpj.exe", note="a}b]c,d:e")
    main.op("Loop", [x], [("looped", [2], "FLOAT")], callee=deep.name, tripCountValue=2147483647)
    main.op("Loop", [x], [("looped more", [2], "FLOAT")], callee=deep.name, tripCountValue="18446744073709551615")
    main.op("Loop", [x], [("looped less", [2], "FLOAT")], callee=deep.name, tripCountValue="-1")
    main.call("again", [], [])
    main.call("no such graph", [], [])
    main.op("If", [x], [])
    below = deep
    graphs = [main, deep, again, back]
    for n in range(1, 12):
        graph = Graph(f"deep_subgraph({n})")
        for trips in (2147483647, 65536):
            below.op("Loop", [], [], callee=graph.name, tripCountValue=trips)
        graphs.append(graph)
        below = graph
    below.op("Nop", [], [])
    again.call("back", [], [])
    back.call("again", [], [])
    back.op("RemoteCodeLoad", [], [], gid="again", destinationType="Buffer")
    return graphs


SIZES = {"FLOAT": 4, "FLOAT16": 2, "INT32": 4, "BOOL": 1}


def facts(graphs):
    """What is true of graphs without recursion. Runs are counted call by call, by Python's own integers."""
    by_name = {graph.name: graph for graph in graphs}
    runs = Counter()

    def follow(graph, times):
        runs[graph.name] += times
        for _, _, _, _, attributes in graph.ops:
            attributes = dict(attributes)
            if "callee" in attributes:
                follow(by_name[attributes["callee"]], times * int(attributes.get("tripCountValue", 1)))

    follow(graphs[0], 1)
    made = {name for _, _, _, outputs, _ in graphs[0].ops for name in outputs}
    used = {name for _, _, inputs, _, _ in graphs[0].ops for name in inputs}
    size = lambda shape, element_type: SIZES[element_type] * eval("*".join(map(str, shape)) or "1")
    setting = lambda key: Counter(str(dict(op[4]).get(key)) for graph in graphs for op in graph.ops)
    return {
        "graphs": [{"name": graph.name, "ops": len(graph.ops), "runs": runs[graph.name],
                    "tensors": len({name for op in graph.ops for name in op[2] + op[3]})} for graph in graphs],
        "byType": Counter(op[0] for graph in graphs for op in graph.ops),
        "byIpu": setting("__ipu_number"), "byStage": setting("__pipeline_stage"), "byPhase": setting("__execution_phase"),
        "parameters": {name: size(*graphs[0].infos[name]) for name in sorted(used - made)},
    }


def write(name, text):
    (HERE / name).write_text(text, encoding="utf-8", newline="")


for name, graphs in [("train", training()), ("train-changed", training(layers=6, trips=16, debug=False)),
                     ("code-loading", code_loading())]:
    write(f"{name}.json", serialise(graphs))
    write(f"{name}.facts.json", json.dumps(facts(graphs), indent=1) + "\n")
write("train-by-id.json", serialise(training(), shuffled=random.Random(7)))
write("hostile.json", serialise(hostile()))
