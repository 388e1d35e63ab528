"use strict";

// The page is complete without this, except for two pictures: memory by tile and the steps over time. It also sorts tables.
// Texts from the report become text nodes and nothing else.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const sizeText = (bytes) => {
    if (bytes < 1024) return bytes + " B";
    let value = bytes;
    for (const unit of ["KiB", "MiB", "GiB", "TiB"]) {
      value /= 1024;
      if (value < 1023.95 || unit === "TiB") return value.toFixed(1) + " " + unit;
    }
    return "";
  };
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const ratio = () => Math.min(3, devicePixelRatio || 1);

  // A canvas of a size in the page's pixels.
  const begin = (canvas, width, height) => {
    canvas.width = Math.round(width * ratio());
    canvas.height = Math.round(height * ratio());
    canvas.style.height = height + "px";
    canvas.style.width = width + "px";
    const to = canvas.getContext("2d");
    to.scale(ratio(), ratio());
    return to;
  };

  // ---- memory by tile --------------------------------------------------------

  const map = byId("map");
  const metric = byId("metric");
  const ipus = [];

  const tileText = (tile) => {
    const words = data.metrics.slice(0, 4).map(([name, values]) => `${name} ${sizeText(values[tile] || 0)}`);
    const chosen = Number(metric.value);
    if (chosen > 3) words.push(`${data.metrics[chosen][0]} ${sizeText(data.metrics[chosen][1][tile] || 0)}`);
    return `Tile ${tile}: ${words.join(", ")}`;
  };

  const showTiles = () => {
    const [, values] = data.metrics[Number(metric.value)];
    let most = 1;
    for (const value of values) most = Math.max(most, value);
    const limit = Number(metric.value) === 0 ? data.bytesPerTile : null;
    const heat = color("--heat");
    const error = color("--error");
    const back = color("--line");
    const room = byId("ipus").clientWidth || 800;
    for (const ipu of ipus) {
      const width = Math.min(room, ipus.length === 1 ? 736 : Math.max(92, Math.min(360, room / Math.min(ipus.length, 8) - 12)));
      const columns = Math.max(1, Math.ceil(Math.sqrt(ipu.count * 2)));
      const lines = Math.ceil(ipu.count / columns);
      const cell = Math.min(24, width / columns);
      const to = begin(ipu.canvas, cell * columns, cell * lines);
      to.fillStyle = back;
      to.fillRect(0, 0, cell * columns, cell * lines);
      const gap = cell >= 6 ? 1 : 0;
      for (let nth = 0; nth < ipu.count; nth += 1) {
        const value = values[ipu.first + nth] || 0;
        const isOver = limit !== null && value > limit;
        to.fillStyle = isOver ? error : `rgba(${heat}, ${(0.08 + (0.92 * value) / most).toFixed(3)})`;
        to.fillRect((nth % columns) * cell, Math.floor(nth / columns) * cell, cell - gap, cell - gap);
      }
      ipu.columns = columns;
      ipu.cell = cell;
    }
    const over = limit === null ? "" : ` A tile has ${sizeText(limit)}; those that need more have the colour of errors.`;
    byId("scale").textContent = `From 0 to ${sizeText(most)}: the more, the stronger the colour.${over}`;
  };

  if (data.metrics.length > 0) {
    map.hidden = false;
    for (const [nth, [name]] of data.metrics.entries()) metric.append(new Option(name, nth));
    const tiles = data.metrics[0][1].length;
    for (let first = 0; first < tiles; first += data.tilesPerIpu) {
      const ipu = { first, count: Math.min(data.tilesPerIpu, tiles - first), canvas: document.createElement("canvas"), at: -1 };
      const figure = document.createElement("figure");
      const caption = document.createElement("figcaption");
      caption.textContent = `IPU ${ipus.length}`;
      ipu.canvas.tabIndex = 0;
      ipu.canvas.setAttribute("role", "img");
      ipu.canvas.setAttribute("aria-label", `Memory of the tiles of IPU ${ipus.length}`);
      const point = (event) => {
        const box = ipu.canvas.getBoundingClientRect();
        const x = Math.floor((event.clientX - box.left) / ipu.cell);
        const nth = Math.floor((event.clientY - box.top) / ipu.cell) * ipu.columns + x;
        if (x < ipu.columns && nth >= 0 && nth < ipu.count) tell(nth);
      };
      const tell = (nth) => {
        ipu.at = nth;
        byId("tile").textContent = tileText(ipu.first + nth);
      };
      ipu.canvas.addEventListener("pointermove", point);
      ipu.canvas.addEventListener("pointerdown", point);
      ipu.canvas.addEventListener("keydown", (event) => {
        const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -ipu.columns, ArrowDown: ipu.columns }[event.key];
        if (step === undefined) return;
        event.preventDefault();
        tell(Math.max(0, Math.min(ipu.count - 1, ipu.at + step)));
      });
      figure.append(caption, ipu.canvas);
      byId("ipus").append(figure);
      ipus.push(ipu);
    }
    metric.addEventListener("change", showTiles);
  }

  // ---- steps -----------------------------------------------------------------

  const lanes = byId("lanes");
  const steps = [];
  for (let at = 0; at < data.steps.length; at += 5) {
    const [number, kind, name, from, cycles] = data.steps.slice(at, at + 5);
    steps.push({ number, kind, name: data.names[name], from, to: from + cycles });
  }
  const rows = [];
  for (const step of steps) {
    let row = rows.find((row) => row.kind === step.kind && row.end <= step.from);
    if (!row && rows.filter((row) => row.kind === step.kind).length < 6) {
      row = { kind: step.kind, end: 0, nth: rows.length };
      rows.push(row);
    }
    // More at once than there is room for are drawn over each other.
    row = row || rows.find((row) => row.kind === step.kind);
    row.end = Math.max(row.end, step.to);
    step.row = row;
  }
  rows.sort((one, other) => one.kind - other.kind || one.nth - other.nth);
  for (const [nth, row] of rows.entries()) row.nth = nth;
  const whole = steps.reduce((most, step) => Math.max(most, step.to), 1);
  const view = { from: 0, to: whole };
  const HEIGHT = 22;
  const timeText = (cycles) => {
    if (!data.clock) return `${Math.round(cycles).toLocaleString("en")} cycles`;
    const seconds = cycles / data.clock;
    const micros = `${(seconds * 1e6).toLocaleString("en", { maximumFractionDigits: 3 })} \u00b5s`;
    return `${micros} (${Math.round(cycles).toLocaleString("en")} cycles)`;
  };

  const showSteps = () => {
    const width = byId("timeline").clientWidth || 800;
    const to = begin(lanes, width, rows.length * HEIGHT);
    const scale = width / (view.to - view.from);
    const colors = data.kinds.map((_, kind) => color("--c" + kind));
    const text = color("--text");
    const line = color("--line");
    to.font = "12px sans-serif";
    to.textBaseline = "middle";
    to.fillStyle = line;
    for (const row of rows) to.fillRect(0, (row.nth + 1) * HEIGHT - 1, width, 1);
    for (const step of steps) {
      if (step.to < view.from || step.from > view.to) continue;
      const x = (step.from - view.from) * scale;
      to.fillStyle = colors[step.kind];
      to.fillRect(x, step.row.nth * HEIGHT + 2, Math.max(0.75, (step.to - step.from) * scale - 0.5), HEIGHT - 5);
    }
    let kind = -1;
    for (const row of rows) {
      if (row.kind === kind) continue;
      kind = row.kind;
      const words = data.kinds[kind];
      to.fillStyle = color("--surface");
      to.globalAlpha = 0.85;
      to.fillRect(0, row.nth * HEIGHT + 3, to.measureText(words).width + 8, HEIGHT - 7);
      to.globalAlpha = 1;
      to.fillStyle = text;
      to.fillText(words, 4, row.nth * HEIGHT + HEIGHT / 2);
    }
    const few = steps.length < data.allSteps ? ` ${steps.length.toLocaleString("en")} of ${data.allSteps.toLocaleString("en")} steps are shown: the longest of those that have times.` : "";
    byId("range").textContent = `From ${timeText(view.from)} to ${timeText(view.to)}.${few}`;
  };

  if (steps.length > 0) {
    byId("timeline").hidden = false;
    lanes.setAttribute("role", "img");
    lanes.setAttribute("aria-label", "Steps over time");
    const move = (middle, length) => {
      const size = Math.max(1, Math.min(whole, length));
      const from = Math.max(0, Math.min(whole - size, middle - size / 2));
      [view.from, view.to] = [from, from + size];
      showSteps();
    };
    const length = () => view.to - view.from;
    const middle = () => (view.from + view.to) / 2;
    byId("in").addEventListener("click", () => move(middle(), length() / 2));
    byId("out").addEventListener("click", () => move(middle(), length() * 2));
    byId("left").addEventListener("click", () => move(middle() - length() / 2, length()));
    byId("right").addEventListener("click", () => move(middle() + length() / 2, length()));
    const point = (event) => {
      const box = lanes.getBoundingClientRect();
      const cycle = view.from + ((event.clientX - box.left) / box.width) * length();
      const row = rows[Math.floor((event.clientY - box.top) / HEIGHT)];
      const near = length() / box.width;
      const step = steps.find((step) => step.row === row && step.from - near <= cycle && step.to + near >= cycle);
      if (!step) return;
      const name = step.name ? ` ${step.name}` : "";
      byId("step").textContent = `Step ${step.number}, ${data.kinds[step.kind]}${name}: ${timeText(step.to - step.from)}, from ${timeText(step.from)}`;
    };
    lanes.addEventListener("pointermove", point);
    lanes.addEventListener("pointerdown", point);
  }

  // ---- tables ----------------------------------------------------------------

  const valueOf = (cell) => {
    const text = cell.dataset.v ?? cell.textContent;
    return text === "" ? null : Number.isNaN(Number(text)) ? text : Number(text);
  };
  const order = (one, other) => {
    if (one === null || other === null) return one === other ? 0 : one === null ? 1 : -1;
    if (typeof one === typeof other) return one < other ? -1 : one > other ? 1 : 0;
    return typeof one === "number" ? -1 : 1;
  };
  for (const table of document.querySelectorAll(".sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    for (const [nth, head] of heads.entries()) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const isDown = head.getAttribute("aria-sort") !== "descending";
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
        const body = table.tBodies[0];
        const list = [...body.rows].map((row) => [valueOf(row.cells[nth]), row]);
        // Empty cells come last in both directions.
        list.sort(([one], [other]) => (isDown && one !== null && other !== null ? order(other, one) : order(one, other)));
        body.append(...list.map(([, row]) => row));
      });
    }
  }

  // ---- all together ----------------------------------------------------------

  const show = () => {
    if (ipus.length > 0) showTiles();
    if (steps.length > 0) showSteps();
  };
  let drawn = 0;
  new ResizeObserver(() => {
    if (document.body.clientWidth === drawn) return;
    drawn = document.body.clientWidth;
    show();
  }).observe(document.body);
  // Printed, what is folded would be missing.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const details of folded) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of folded) details.open = false;
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  show();
  document.documentElement.dataset.ready = Math.round(performance.now());
})();
