"use strict";

// The page is complete without this. It puts all blobs into the table, with a filter, sorting and pages, and draws the
// treemap. What is shown is in the address after "#", so that a link leads to it: #filter=attention&sort=size&order=down.
// Texts from files become text nodes and nothing else.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const table = document.getElementById("table");
  if (!table) return;

  // ---- the data ------------------------------------------------------------

  const rows = [];
  const kindOf = (row) => data.holds[row.holds][0];
  const holdsOf = (row) => data.holds[row.holds][1];

  for (const [file, { start, blobs }] of data.files.entries()) {
    const step = data.values ? 5 : 4;
    let name = "";
    let offset = start;
    for (let at = 0; at < blobs.length; at += step) {
      name = name.slice(0, blobs[at]) + blobs[at + 1];
      const size = blobs[at + 3];
      const values = data.values ? blobs[at + 4] : null;
      rows.push({ name, lower: name.toLowerCase(), holds: blobs[at + 2], size, values, file, blob: at / step, offset });
      offset += size;
    }
  }
  const holdsLower = data.holds.map(([kind, text]) => data.kinds[kind][0] + " " + text.toLowerCase());

  // The figures of a row's values; null if there are none.
  const statsOf = (row) => {
    if (!Array.isArray(row.values)) return null;
    const [finite, min, max, mean, [nan, infinite, zeros], range, counts] = row.values;
    return { finite, min, max, mean, nan, infinite, zeros, range, counts };
  };

  // ---- words ---------------------------------------------------------------

  const sizeText = (bytes) => {
    if (bytes < 1024) return bytes + " B";
    let tenths = bytes * 10;
    for (const unit of ["KiB", "MiB", "GiB", "TiB", "PiB"]) {
      tenths /= 1024;
      if (Math.round(tenths) < 10240) return (Math.round(tenths) / 10).toFixed(1) + " " + unit;
    }
    return (tenths / 10240).toFixed(1) + " EiB";
  };
  const countText = (count) => count.toLocaleString("en");
  const blobsText = (count) => countText(count) + (count === 1 ? " blob" : " blobs");

  // What the treemap and the table say of blobs: how many, and the bytes that they take in the file, headers included.
  const total = (list) => list.reduce((sum, row) => sum + row.size, 0);
  const amountText = (list) => `${blobsText(list.length)}, ${sizeText(total(list))}`;

  // A number in four digits; integers that are not long, and words, as they are.
  const brief = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    if (/^-?\d{0,9}$/.test(text) || Number.isNaN(Number(text))) return text;
    const short = Number(text).toPrecision(4);
    return short.includes("e") ? short.replace(/\.?0+e/, "e") : short.replace(/\.?0+$/, "");
  };

  const oddText = (stats) => {
    const words = [];
    if (stats.nan) words.push(countText(stats.nan) + " NaN");
    if (stats.infinite) words.push(countText(stats.infinite) + " infinite");
    if (stats.finite > 0 && stats.zeros === stats.finite) words.push("all 0");
    return words.join(", ");
  };

  // ---- elements ------------------------------------------------------------

  const element = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    return filled(made, attributes, children);
  };
  const svg = (tag, attributes = {}, ...children) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    return filled(made, attributes, children);
  };
  const filled = (made, attributes, children) => {
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  const button = (words, attributes, action) => {
    const made = element("button", { type: "button", ...attributes }, words);
    made.addEventListener("click", action);
    return made;
  };
  const isolated = (text) => element("bdi", {}, text);

  // ---- the state, in the address -------------------------------------------

  const DEFAULTS = { filter: "", kind: "", sort: "size", order: "down", page: "1", at: "", is: "", open: "" };
  let state = { ...DEFAULTS };

  const readAddress = () => {
    const given = new URLSearchParams(location.hash.slice(1));
    state = { ...DEFAULTS };
    for (const key of Object.keys(DEFAULTS)) if (given.has(key)) state[key] = given.get(key);
  };
  const writeAddress = () => {
    const changed = Object.entries(state).filter(([key, value]) => value !== DEFAULTS[key]);
    const address = changed.length ? "#" + new URLSearchParams(changed) : location.pathname + location.search;
    try {
      history.replaceState(null, "", address);
    } catch {
      // A page in a frame may not be allowed to; then there is only no link to what is shown.
    }
  };
  const change = (changes) => {
    state = { ...state, page: "1", open: "", ...changes };
    writeAddress();
    show();
  };

  // ---- which rows ----------------------------------------------------------

  const collator = new Intl.Collator("en", { numeric: true });
  // Rows without a number come last, whichever way the others are sorted.
  const byNumber = (pick) => (a, b, sign) => {
    const [x, y] = [pick(a), pick(b)];
    return x === null || y === null ? (x === null) - (y === null) : sign * (x - y);
  };
  const byText = (pick) => (a, b, sign) => sign * collator.compare(pick(a), pick(b));
  const byFigure = (key) => byNumber((row) => {
    const value = statsOf(row)?.[key] ?? null;
    return value === null ? null : Number(value);
  });
  const ORDERS = {
    name: byText((row) => row.name),
    kind: byNumber(kindOf),
    holds: byText(holdsOf),
    size: byNumber((row) => row.size),
    min: byFigure("min"),
    max: byFigure("max"),
    mean: byFigure("mean"),
    odd: byNumber((row) => {
      const stats = statsOf(row);
      return stats ? stats.nan + stats.infinite + (oddText(stats) ? 0.5 : 0) : null;
    }),
  };

  // A place in the tree of names is a beginning that ends with a separator, any beginning and "*", or a whole name. A whole name
  // that looks like a beginning has `is` beside it, because it is not all names that begin so.
  const SEPARATOR = /[.\/:]/g;
  const isPart = (at) => at === "" || /[.\/:*]$/.test(at);
  const beginning = (at) => (at.endsWith("*") ? at.slice(0, -1) : at);
  const isWhole = () => state.is === "name" || !isPart(state.at);
  const isAt = (row) => (isWhole() ? row.name === state.at : row.name.startsWith(beginning(state.at)));
  const isEverywhere = () => state.at === "" && state.is === "";

  const passing = () => {
    const words = state.filter.toLowerCase().split(/\s+/).filter(Boolean);
    const kind = data.kinds.findIndex(([one]) => one === state.kind);
    return rows.filter((row) =>
      (kind < 0 || kindOf(row) === kind) &&
      words.every((word) => row.lower.includes(word) || holdsLower[row.holds].includes(word)));
  };
  const sorted = (list) => {
    const order = ORDERS[state.sort] || ORDERS.size;
    const sign = state.order === "down" ? -1 : 1;
    return [...list].sort((a, b) => order(a, b, sign) || a.file - b.file || a.blob - b.blob);
  };

  // ---- the table -----------------------------------------------------------

  const PAGE = 100;
  const body = table.tBodies[0];
  const headings = [...table.tHead.rows[0].cells];

  for (const heading of headings) {
    const key = heading.dataset.sort;
    const words = heading.textContent;
    const turn = () => {
      const isText = key === "name" || key === "kind" || key === "holds";
      const order = state.sort === key ? (state.order === "down" ? "up" : "down") : isText ? "up" : "down";
      change({ sort: key, order });
    };
    heading.replaceChildren(button(words, { class: "sort" }, turn));
  }

  const showHeadings = () => {
    for (const heading of headings) {
      if (heading.dataset.sort === state.sort) {
        heading.setAttribute("aria-sort", state.order === "down" ? "descending" : "ascending");
      } else {
        heading.removeAttribute("aria-sort");
      }
    }
  };

  const keyOf = (row) => row.file + ":" + row.blob;

  const rowElement = (row) => {
    const isOpen = state.open === keyOf(row);
    const toggle = button(isolated(row.name || "(no name)"), { class: "more", "aria-expanded": isOpen }, () => {
      const page = state.page;
      change({ open: isOpen ? "" : keyOf(row), page });
      body.querySelector(`[data-key="${keyOf(row)}"] button`)?.focus();
    });
    const kind = kindOf(row);
    const made = element("tr", { "data-key": keyOf(row) },
      element("th", { scope: "row" }, toggle),
      element("td", {}, element("i", { class: "kind-" + kind }), element("span", {}, data.kinds[kind][0])),
      element("td", {}, holdsOf(row)));
    if (data.values) made.append(...valueCells(row));
    made.append(element("td", { class: "number" }, sizeText(row.size)));
    return made;
  };

  const valueCells = (row) => {
    const stats = statsOf(row);
    const cells = ["min", "mean", "max"].map((key) => element("td", { class: "number value" }, brief(stats?.[key])));
    const last = element("td", {});
    if (typeof row.values === "string") last.append(row.values);
    if (stats?.counts) last.append(spark(stats.counts));
    if (stats && oddText(stats)) last.append(" ", element("span", { class: "odd" }, oddText(stats)));
    return [...cells, last];
  };

  const bars = (counts, width, height) => {
    const most = Math.max(...counts);
    const step = width / counts.length;
    return counts.flatMap((count, place) => {
      if (count === 0) return [];
      const tall = Math.max(1, (count / most) * height);
      return [svg("rect", { x: place * step, y: height - tall, width: Math.max(step - 0.5, 0.5), height: tall })];
    });
  };

  const spark = (counts) =>
    svg("svg", { class: "spark", viewBox: "0 0 84 18", "aria-hidden": "true" }, ...bars(counts, 84, 18));

  const histogram = ({ range: [start, width], counts }) => {
    // Texts keep their size, so the drawing is narrower on a phone.
    const [wide, tall] = [map.clientWidth < 480 ? 320 : 540, 120];
    const label = (x, y, anchor, words) => svg("text", { x, y, "text-anchor": anchor }, words);
    const end = start + width * counts.length;
    const name = `Histogram: ${counts.length} ranges of ${width} from ${start} to ${end}`;
    const made = svg("svg", { viewBox: `0 0 ${wide} ${tall + 34}`, role: "img", "aria-label": name });
    const drawn = svg("g", { transform: "translate(0 14)" }, ...bars(counts, wide, tall),
      svg("line", { x1: 0, x2: wide, y1: tall + 0.5, y2: tall + 0.5 }));
    const most = `at most ${countText(Math.max(...counts))} in a range of ${brief(width)}`;
    made.append(drawn, label(wide, 10, "end", most), label(0, tall + 30, "start", brief(start)), label(wide, tall + 30, "end", brief(end)));
    if (start < 0 && end > 0) made.append(label((-start / (end - start)) * wide, tall + 30, "middle", "0"));
    return made;
  };

  const detailElement = (row) => {
    const stats = statsOf(row);
    const facts = [
      ["File", isolated(data.files[row.file].path)],
      ["Blob", countText(row.blob) + ", at byte " + countText(row.offset)],
      ["Size", countText(row.size) + " bytes"],
    ];
    if (stats) {
      facts.push(["Least", stats.min ?? "none"], ["Mean", String(stats.mean ?? "none")], ["Greatest", stats.max ?? "none"]);
      facts.push(["Finite", countText(stats.finite)], ["NaN", countText(stats.nan)]);
      facts.push(["Infinite", countText(stats.infinite)], ["Zeros", countText(stats.zeros)]);
      if (data.kinds[kindOf(row)][0] === "feed") facts.push(["Values of", "the first tensor"]);
    }
    const list = element("dl", { class: "facts" });
    for (const [what, value] of facts) list.append(element("div", {}, element("dt", {}, what), element("dd", {}, value)));
    const cell = element("td", { colspan: headings.length }, list);
    if (stats?.counts) cell.append(histogram(stats));
    return element("tr", { class: "detail" }, cell);
  };

  const showTable = (list) => {
    const pages = Math.max(1, Math.ceil(list.length / PAGE));
    const page = Math.min(pages, Math.max(1, Number(state.page) || 1));
    const first = (page - 1) * PAGE;
    const shown = sorted(list).slice(first, first + PAGE);
    body.replaceChildren(...shown.flatMap((row) =>
      state.open === keyOf(row) ? [rowElement(row), detailElement(row)] : [rowElement(row)]));
    table.caption.textContent = list.length === 0
      ? "No blob passes the filter"
      : list.length > PAGE
        ? `Blobs ${countText(first + 1)} to ${countText(first + shown.length)} of ${countText(list.length)}`
        : blobsText(list.length);
    showHeadings();
    showPages(page, pages);
  };

  const showPages = (page, pages) => {
    const area = document.getElementById("pages");
    area.hidden = pages === 1;
    const to = (words, target) => {
      const made = button(words, {}, () => {
        change({ page: String(target) });
        table.scrollIntoView({ block: "start" });
      });
      made.disabled = target < 1 || target > pages || target === page;
      return made;
    };
    area.replaceChildren(to("First", 1), to("Previous", page - 1), `page ${countText(page)} of ${countText(pages)}`,
      to("Next", page + 1), to("Last", pages));
  };

  // ---- the treemap ---------------------------------------------------------

  const map = document.getElementById("map");
  const MOST_PARTS = 100;


  const grouped = (list, keyOf) => {
    const groups = new Map();
    for (const item of list) {
      const key = keyOf(item);
      const group = groups.get(key);
      if (group) group.push(item);
      else groups.set(key, [item]);
    }
    return groups;
  };

  // The parts below a part of the tree.
  const partsOf = (at, list) => {
    const keyOf = (row) => {
      SEPARATOR.lastIndex = beginning(at).length;
      return SEPARATOR.test(row.name) ? "<" + row.name.slice(0, SEPARATOR.lastIndex) : "=" + row.name;
    };
    const part = (key, within) => ({ at: key.slice(1), isWhole: key[0] === "=", list: within, size: total(within) });
    return [...grouped(list, keyOf)].map(([key, within]) => part(key, within));
  };

  // Too many parts to be seen become fewer, which share more of their beginnings: layer.10, layer.11 and so on are layer.1*.
  const fewer = (at, found) => {
    const start = beginning(at).length;
    const longest = found.reduce((most, part) => Math.max(most, part.at.length), start + 1);
    let groups = null;
    for (let end = start + 1; end <= longest; end++) {
      const next = grouped(found, (part) => part.at.slice(0, end));
      if (next.size > MOST_PARTS && groups && groups.size > 1) break;
      groups = next;
      if (next.size > MOST_PARTS) break;
    }
    return [...groups].map(([key, parts]) => {
      if (parts.length === 1) return parts[0];
      const within = parts.flatMap((part) => part.list);
      return { at: key + "*", isWhole: false, list: within, size: total(within) };
    });
  };

  // The parts to draw, the largest first. A part that has a single part below it stands for that part.
  const parts = (at, list) => {
    let found = partsOf(at, list);
    const [only] = found;
    if (found.length === 1 && !only.isWhole && only.at !== at) return parts(only.at, only.list);
    if (found.length > MOST_PARTS) found = fewer(at, found);
    return { above: at, found: found.sort((a, b) => b.size - a.size) };
  };

  // Rectangles for sizes, as square as can be: rows of tiles along the shorter side, each as long as it makes them squarer.
  const squarify = (sizes, { x, y, width, height }) => {
    const all = sizes.reduce((sum, size) => sum + size, 0);
    const places = [];
    if (all <= 0) return places;
    const scale = (width * height) / all;
    let next = 0;
    while (next < sizes.length) {
      const side = Math.min(width, height);
      let sum = 0;
      let worst = Infinity;
      let end = next;
      while (end < sizes.length) {
        const area = (sum + sizes[end]) * scale;
        const [most, least] = [sizes[next] * scale, sizes[end] * scale];
        const ratio = Math.max((side * side * most) / (area * area), (area * area) / (side * side * least));
        if (ratio > worst) break;
        worst = ratio;
        sum += sizes[end++];
      }
      const thick = (sum * scale) / side;
      let along = 0;
      for (; next < end; next++) {
        const long = (sizes[next] * scale) / thick;
        places.push(width < height
          ? { x: x + along, y, width: long, height: thick }
          : { x, y: y + along, width: thick, height: long });
        along += long;
      }
      if (width < height) [y, height] = [y + thick, height - thick];
      else [x, width] = [x + thick, width - thick];
    }
    return places;
  };

  // Tensors are coloured by type, the types with the most bytes first; others by kind.
  const TENSOR = 2;
  const typeOf = (row) => holdsOf(row).replace(/^\d+ x /, "").split(" ")[0];
  const shades = (() => {
    const sizes = new Map();
    for (const row of rows) if (kindOf(row) === TENSOR) sizes.set(typeOf(row), (sizes.get(typeOf(row)) || 0) + row.size);
    const types = [...sizes].sort((a, b) => b[1] - a[1]).map(([type]) => type);
    return new Map(types.map((type, place) => [type, Math.min(place, 5)]));
  })();
  const shadeOf = (list) => {
    const largest = list.reduce((most, row) => (row.size > most.size ? row : most));
    return kindOf(largest) === TENSOR ? "shade-" + shades.get(typeOf(largest)) : "kind-" + kindOf(largest);
  };

  const place = (made, { x, y, width, height }, whole) => {
    made.style.left = (x / whole.width) * 100 + "%";
    made.style.top = (y / whole.height) * 100 + "%";
    made.style.width = (width / whole.width) * 100 + "%";
    made.style.height = (height / whole.height) * 100 + "%";
    return made;
  };

  const tile = (part, above, area, whole, className) => {
    const name = (part.isWhole ? part.at : part.at.replace(/\*$/, "\u2026")) || "(no name)";
    const words = name.slice(beginning(above).length).replace(/[.\/:]$/, "") || name;
    const title = `${name}: ${amountText(part.list)}`;
    const is = part.isWhole && isPart(part.at) ? "name" : "";
    const made = button("", { class: "tile " + className, title, "aria-label": title }, () => change({ at: part.at, is }));
    if (area.width > 34 && area.height > 15) {
      made.append(isolated(words));
      if (area.height > 34 || className === "head") made.append(element("small", {}, sizeText(part.size)));
    }
    return place(made, area, whole);
  };

  const HEAD = 20;

  // Draws the parts of a part, and into large ones their parts.
  const draw = (into, at, list, area, whole, depth) => {
    const { above, found: all } = parts(at, list);
    const sum = total(list);
    const visible = (part) => (part.size / sum) * area.width * area.height > (depth === 0 ? 60 : 250);
    const few = all.filter(visible);
    const rest = all.slice(few.length);
    const sizes = few.map((part) => part.size);
    if (rest.length) sizes.push(rest.reduce((size, part) => size + part.size, 0));
    const places = squarify(sizes.map((size) => Math.max(size, sum / 5000)), area);
    const add = (made) => {
      // The key Tab goes to the large tiles; smaller ones are reached through them.
      if (depth > 0) made.tabIndex = -1;
      into.append(made);
    };
    for (const [nth, part] of few.entries()) {
      const own = places[nth];
      const isLarge = own.width > 90 && own.height > 60;
      if (depth < 2 && !part.isWhole && isLarge) {
        add(tile(part, above, { ...own, height: HEAD }, whole, "head"));
        draw(into, part.at, part.list, { ...own, y: own.y + HEAD, height: own.height - HEAD }, whole, depth + 1);
      } else {
        add(tile(part, above, own, whole, shadeOf(part.list)));
      }
    }
    if (rest.length) {
      const within = rest.flatMap((part) => part.list);
      const words = `${countText(within.length)} more ${within.length === 1 ? "blob" : "blobs"}`;
      const made = element("div", { class: "tile rest", title: `${words}, ${sizeText(total(within))}: see the table` });
      const own = places[few.length];
      if (own.width > 34 && own.height > 15) made.append(words);
      into.append(place(made, own, whole));
    }
  };

  // The way from all blobs to the part that is shown.
  const trail = (list) => {
    const made = element("nav", { class: "trail", "aria-label": "Part of the names" });
    const steps = [""];
    SEPARATOR.lastIndex = 0;
    while (SEPARATOR.test(state.at)) steps.push(state.at.slice(0, SEPARATOR.lastIndex));
    if (state.at !== steps.at(-1) || state.is !== "") steps.push(state.at);
    for (const [nth, at] of steps.entries()) {
      const below = at.slice(steps[nth - 1]?.length);
      const words = nth === 0 ? "All names" : (isWhole() ? below : below.replace(/\*$/, "\u2026")) || at || "(no name)";
      const isLast = nth === steps.length - 1;
      const go = () => change({ at, is: "" });
      const step = isLast ? element("strong", { "aria-current": "true" }, isolated(words)) : button(isolated(words), {}, go);
      made.append(step, isLast ? "" : element("span", { "aria-hidden": "true" }, "\u203a"));
    }
    made.append(element("span", {}, " " + amountText(list)));
    return made;
  };

  const shadeLegend = (list) => {
    const present = new Set(list.filter((row) => kindOf(row) === TENSOR).map(typeOf));
    const made = element("ul", { class: "legend" });
    for (const [type, shade] of shades) {
      if (present.has(type) && made.children.length < 8) {
        made.append(element("li", {}, element("i", { class: "shade-" + shade }), "tensors of type " + type));
      }
    }
    return made;
  };

  const showMap = (list) => {
    map.hidden = list.length === 0;
    if (map.hidden) return;
    const width = map.clientWidth || 800;
    const height = list.length < 8 ? 160 : Math.round(Math.min(440, Math.max(260, width * 0.45)));
    const whole = { x: 0, y: 0, width, height };
    const tiles = element("div", { class: "tiles", role: "group", "aria-label": "Treemap of sizes" });
    tiles.style.height = whole.height + "px";
    draw(tiles, isWhole() ? "" : state.at, list, whole, whole, 0);
    map.replaceChildren(trail(list), tiles, shadeLegend(list));
  };

  // ---- all together --------------------------------------------------------

  const filter = document.getElementById("filter");
  const kind = document.getElementById("kind");
  let shownList = [];

  const show = () => {
    const list = passing();
    shownList = isEverywhere() ? list : list.filter(isAt);
    if (filter.value !== state.filter) filter.value = state.filter;
    kind.value = state.kind;
    document.getElementById("count").textContent =
      `${countText(shownList.length)} of ${blobsText(rows.length)}, ${sizeText(total(shownList))}`;
    showMap(shownList);
    showTable(shownList);
  };

  let waiting = 0;
  filter.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => change({ filter: filter.value }), rows.length > 5000 ? 150 : 0);
  });
  kind.addEventListener("change", () => change({ kind: kind.value }));
  document.getElementById("controls").addEventListener("submit", (event) => event.preventDefault());

  addEventListener("hashchange", () => {
    // Other fragments lead to a place of the page.
    if (location.hash === "" || location.hash.includes("=")) {
      readAddress();
      show();
    }
  });

  let drawnWidth = 0;
  new ResizeObserver(() => {
    if (map.clientWidth !== drawnWidth) {
      drawnWidth = map.clientWidth;
      showMap(shownList);
    }
  }).observe(map);

  // Printed, what is folded would be missing. The tables of anchors are long, and the picture has what matters of them.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open], .anchors)")];
    for (const details of folded) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of folded) details.open = false;
  });

  document.getElementById("controls").hidden = false;
  readAddress();
  show();
})();
