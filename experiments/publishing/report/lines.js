
// Draws the curves that an artefact gives as numbers: a pointer reads them, its legend takes them
// away. They are drawn when a reader opens them; the picture above shows them all.
function exploreLines() {
  const WIDTH = 380, HEIGHT = 248, LEFT = 52, RIGHT = 372, TOP = 10, BOTTOM = 224;
  const DASHES = ["", "6 3", "2 3", "8 3 2 3", "4 2 1 2 1 2"]; // as in the charts of speed
  const MARKS = [
    "m-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0", "m-2.8 -2.8h5.6v5.6h-5.6z", "m0 -3.6l3.6 6.3h-7.2z",
    "m-3 -3l6 6m0 -6l-6 6",
  ];

  function svg(tag, attributes, ...children) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  function html(tag, attributes, ...children) {
    const element = Object.assign(document.createElement(tag), attributes);
    element.append(...children);
    return element;
  }

  // --- axes --------------------------------------------------------------------------------------

  function scale(values, log, from, to) {
    const of = log ? Math.log10 : (value) => value;
    let low = of(Math.min(...values)), high = of(Math.max(...values));
    const margin = 0.04 * (high - low) || 0.1;
    low -= margin;
    high += margin;
    const at = (value) => from + ((of(value) - low) / (high - low)) * (to - from);
    return { at, ticks: log ? logTicks(low, high) : ticks(low, high) };
  }

  function ticks(low, high) {
    const size = 10 ** Math.floor(Math.log10(high - low));
    const fits = (step) => Math.floor(high / step) - Math.ceil(low / step) >= 2;
    const step = [1, 0.5, 0.25, 0.2, 0.1].map((factor) => factor * size).find(fits);
    const found = [];
    for (let i = Math.ceil(low / step); i <= Math.floor(high / step); i++) found.push(i * step + 0); // -0 + 0 is 0
    return found;
  }

  function logTicks(low, high) {
    const factors = high - low > 2.5 ? [1] : high - low > 0.7 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 7];
    const found = [];
    for (let decade = Math.floor(low); decade <= high; decade++) {
      for (const factor of factors) {
        const place = decade + Math.log10(factor);
        if (place >= low && place <= high) found.push(factor * 10 ** decade);
      }
    }
    return found;
  }

  const short = (value) => value.toLocaleString("en", { maximumSignificantDigits: 4 });

  function axes(panel, x, y) {
    const parts = [];
    for (const value of y.ticks) {
      const at = y.at(value);
      parts.push(svg("line", { class: "grid", x1: LEFT, x2: RIGHT, y1: at, y2: at }));
      parts.push(svg("text", { x: LEFT - 5, y: at + 4, "text-anchor": "end" }, short(value)));
    }
    for (const value of x.ticks) {
      const at = x.at(value);
      parts.push(svg("line", { class: "grid", x1: at, x2: at, y1: TOP, y2: BOTTOM }));
      parts.push(svg("text", { x: at, y: BOTTOM + 16, "text-anchor": "middle" }, short(value)));
    }
    const turned = { "text-anchor": "middle", transform: `translate(10 ${(TOP + BOTTOM) / 2}) rotate(-90)` };
    parts.push(svg("text", turned, panel.y));
    return parts;
  }

  // --- lines -------------------------------------------------------------------------------------

  function drawn(line, index, x, y) {
    const places = line.x.map((value, i) => [x.at(value), y.at(line.y[i])]);
    const group = svg("g", { class: "line", style: `--c: ${line.colour}` });
    const piece = (from, to, dashes, more) => {
      const points = places.slice(from, to).map((place) => place.map((at) => at.toFixed(1)).join()).join(" ");
      group.append(svg("polyline", { points, "stroke-dasharray": dashes, ...more }));
    };
    const gaps = line.gaps ?? [];
    [-1, ...gaps].forEach((before, i) => piece(before + 1, (gaps[i] ?? places.length) + 1, DASHES[index % DASHES.length]));
    for (const at of gaps) piece(at, at + 2, "1 3", { class: "gap" });
    for (const [left, top] of places) group.append(mark(index, left, top));
    return { group, places };
  }

  function mark(index, left, top) {
    const kind = index % MARKS.length;
    const d = `M${left.toFixed(1)} ${top.toFixed(1)}${MARKS[kind]}`;
    return svg("path", { d, ...(kind === 3 && { class: "cross" }) });
  }

  function draw(panel, all, names, off) {
    const values = panel.lines.flatMap((line) => line.y);
    const x = scale(panel.lines.flatMap((line) => line.x), true, LEFT, RIGHT);
    const y = scale(values, panel.log, BOTTOM, TOP);
    const said = `${panel.title}: ${panel.y} against ${panel.x}, ${panel.lines.length} lines.`;
    const size = { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT };
    const picture = svg("svg", { ...size, role: "img", "aria-label": said }, ...axes(panel, x, y));
    const lines = panel.lines.map((line) => {
      const index = names.indexOf(line.label);
      const shape = drawn(line, index, x, y);
      shape.group.dataset.line = index;
      picture.append(shape.group);
      return { line, index, ...shape };
    });
    const ring = svg("circle", { class: "ring", r: 6, visibility: "hidden" });
    picture.append(ring);
    const reading = html("output", { className: "reading", value: "Point at a line." });
    const read = (event) => {
      const place = new DOMPoint(event.clientX, event.clientY)
        .matrixTransform(picture.getScreenCTM().inverse());
      const near = nearest(lines.filter(({ index }) => !off.has(index)), place);
      if (!near) return;
      ring.setAttribute("cx", near.places[near.i][0]);
      ring.setAttribute("cy", near.places[near.i][1]);
      ring.setAttribute("visibility", "visible");
      reading.value = inWords(near.line, near.i, panel.n, all.interval);
    };
    picture.addEventListener("pointermove", read);
    picture.addEventListener("pointerdown", read); // a finger that does not move
    picture.addEventListener("pointerleave", () => ring.setAttribute("visibility", "hidden"));
    const below = html("div", { className: "axis" }, panel.x); // long ones are broken into lines
    return html("figure", {}, html("figcaption", {}, panel.title), picture, below, reading);
  }

  function nearest(lines, place) {
    let best = null, least = Infinity;
    for (const candidate of lines) {
      candidate.places.forEach(([left, top], i) => {
        const distance = Math.hypot(left - place.x, top - place.y);
        if (distance < least) [best, least] = [{ ...candidate, i }, distance];
      });
    }
    return best;
  }

  function inWords(line, i, n, what) {
    let interval = "";
    if (line.half) interval = ` ± ${short(line.half[i])} (${what})`;
    else if (line.low) interval = ` [${short(line.low[i])}, ${short(line.high[i])}: ${what}]`;
    return `${line.label}: ${short(line.y[i])}${interval} at cost ${short(line.x[i])}, n = ${n}`;
  }

  // --- an artefact -------------------------------------------------------------------------------

  async function unpack(text) {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }

  async function fill(details) {
    if (!window.DecompressionStream) {
      const why = "This browser cannot unpack the numbers (it has no DecompressionStream); they stand in rows.csv.";
      details.append(html("p", {}, why));
      return;
    }
    const all = await unpack(details.querySelector("script").textContent);
    const names = [...new Set(all.panels.flatMap((panel) => panel.lines.map((l) => l.label)))];
    const colours = new Map(all.panels.flatMap((panel) => panel.lines.map((l) => [l.label, l.colour])));
    const off = new Set();
    const charts = html("div", { className: "charts" });
    charts.append(...all.panels.map((panel) => draw(panel, all, names, off)));
    const legend = html("ul", { className: "legend" });
    legend.append(...names.map((name, index) => html("li", {}, button(name, index, colours.get(name), charts, off))));
    details.append(legend, charts);
  }

  function button(name, index, colour, charts, off) {
    const key = svg("svg", { class: "key", viewBox: "0 0 34 12", width: 34, height: 12, "aria-hidden": "true" });
    const line = { points: "1,6 33,6", "stroke-dasharray": DASHES[index % DASHES.length] };
    const group = svg("g", { class: "line", style: `--c: ${colour}` }, svg("polyline", line), mark(index, 17, 6));
    key.append(group);
    const made = html("button", { type: "button" }, key, ` ${name}`);
    made.setAttribute("aria-pressed", "true");
    made.addEventListener("click", () => {
      if (!off.delete(index)) off.add(index);
      made.setAttribute("aria-pressed", String(!off.has(index)));
      for (const drawn of charts.querySelectorAll(`.line[data-line="${index}"]`)) {
        drawn.classList.toggle("off", off.has(index));
      }
    });
    return made;
  }

  for (const details of document.querySelectorAll(".explore")) {
    details.hidden = false;
    details.addEventListener("toggle", () => fill(details), { once: true });
  }
}

exploreLines();
