// The timeline: a canvas with the bars in view, those below a pixel merged, and an SVG with the
// axis, the names of the units and the cursor.

const kLeft = 150, kTop = 26, kRow = 24, kBar = 18, kColors = 8, kTableRows = 200, kLegend = 16;
const kBusy = 0;

const cssColor = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/// The name of the color of a layer; those of no node are grey.
function layerColor(data, layer) {
  if (!data.layers[layer].operators.length)
    return "--bar-none";
  const ofModel = data.layers.slice(0, layer).filter(one => one.operators.length).length;
  return `--bar-${ofModel % kColors}`;
}

class Timeline {
  constructor(host, data) {
    this.data = data;
    this.recorded = data.timeline;
    this.height = kTop + this.recorded.units.length * kRow + 4;
    this.colors = data.layers.map((_, layer) => layerColor(data, layer));
    this.labels = data.layers.map(one => one.names.filter(name => name).join(", ") || one.title);
    this.focused = null;
    this.marksPath = Boolean(data.plan);
    this.paths = new Map(this.recorded.units.map(unit => [unit.name, []]));
    for (const step of data.plan ? data.plan.critical_path : [])
      this.paths.get(step.unit).push(step);
    this.build(host);
    this.zoom = d3.zoom().scaleExtent([1, Math.max(1, this.recorded.cycles)])
      .on("zoom", () => this.schedule());
    new ResizeObserver(() => this.resize()).observe(this.chart);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    this.resize();
    this.svg.call(this.zoom).on("dblclick.zoom", null);
  }

  build(host) {
    const {units, cycles} = this.recorded;
    this.range = element("span", {class: "muted", role: "status", id: "timeline-range"});
    const tools = element("div", {class: "tools"});
    const add = (text, title, act) => {
      const button = element("button", {type: "button", title, "aria-label": title}, text);
      button.addEventListener("click", act);
      tools.append(button);
    };
    add("+", "Zoom in", () => this.scale(2));
    add("−", "Zoom out", () => this.scale(0.5));
    add("←", "Earlier cycles", () => this.pan(-0.25));
    add("→", "Later cycles", () => this.pan(0.25));
    add("Reset", "Show all cycles", () => this.reset());
    if (this.data.plan) {
      const box = element("input", {type: "checkbox"});
      box.checked = true;
      box.addEventListener("change", () => {
        this.marksPath = box.checked;
        this.draw();
      });
      tools.append(element("label", {}, box, " mark the critical path in red"));
    }
    tools.append(this.range);
    this.chart = element("div", {class: "chart", tabindex: "0", role: "group", "aria-label":
      "Timeline; arrow keys, plus and minus move and zoom, Escape shows all", "aria-describedby": "timeline-range"});
    this.chart.style.height = `${this.height}px`;
    this.canvas = element("canvas", {"aria-hidden": "true"});
    this.svg = d3.select(this.chart).append(() => this.canvas).select(function () { return this.parentNode; })
      .append("svg").attr("role", "img").attr("height", this.height)
      .attr("aria-label", `Timeline of ${units.length} units over ${cycles} cycles; the table below has the same bars`);
    this.axis = this.svg.append("g").attr("class", "axis").attr("transform", `translate(0,${kTop - 2})`);
    this.svg.selectAll("text.unit").data(units).enter().append("text").attr("class", "unit").attr("x", 10)
      .attr("y", (_, i) => kTop + i * kRow + kBar - 3).text(unit => unit.name);
    this.cursor = this.svg.append("rect").attr("class", "cursor").attr("y", kTop).attr("visibility", "hidden")
      .attr("height", this.height - kTop);
    this.svg.on("mousemove", () => this.point(d3.mouse(this.svg.node()))).on("mouseleave", () => this.point(null));
    this.chart.addEventListener("keydown", event => this.key(event));
    this.readout = element("p", {class: "readout"});
    const hidden = this.labels.length - kLegend;
    const legend = element("ul", {class: "legend"}, ...this.labels.slice(0, kLegend).map((label, i) => element("li", {},
      swatch(`var(${this.colors[i]})`), label)), ...(hidden > 0 ? [element("li", {}, `and ${number(hidden)} more layers`)] : []),
      element("li", {}, swatch("var(--wait)"), "waits"));
    const details = element("details", {}, element("summary", {}, "The bars in view as a table"));
    details.addEventListener("toggle", () => this.list());
    host.append(element("p", {class: "muted"}, "Zoom with the mouse wheel or + and −, move by dragging or with the arrow " +
      "keys; Escape shows all cycles. Point at a bar to read what it is."), tools, this.chart, this.readout, legend, details);
    this.details = details;
    if (cycles < this.data.cycles)
      host.append(element("p", {class: "absent"}, `The timeline ends after ${number(cycles)} of ` +
        `${number(this.data.cycles)} cycles: the rest has too many bars for a page.`));
    this.tableRows = table(details, {caption: `At most ${kTableRows} bars of the cycles in view, unit by unit`, rows: [], columns: [
      {title: "Unit", cell: bar => bar.unit}, {title: "First cycle", isNumber: true, cell: bar => number(bar.first)},
      {title: "Cycles", isNumber: true, cell: bar => number(bar.cycles)}, {title: "Does", cell: bar => bar.does},
      {title: "Layer", cell: bar => bar.layer}, {title: "Instruction", cell: bar => bar.text}]});
    this.point(null);
  }

  /// What a span says in words.
  describe(unit, [first, cycles, activity, instruction]) {
    const core = unit.core === "host port" ? this.recorded.instructions.length - 1 : unit.core;
    const {text, layer} = this.recorded.instructions[core][instruction];
    return {unit: unit.name, first, cycles, does: this.recorded.activities[activity], number: layer,
      layer: layer === null ? "" : this.data.layers[layer].title, label: layer === null ? "" : this.labels[layer], text: `${instruction}: ${text}`};
  }

  resize() {
    const domain = this.x && this.x.domain();
    this.width = Math.max(this.chart.clientWidth, kLeft + 100);
    this.base = d3.scaleLinear([0, this.recorded.cycles], [kLeft, this.width - 10]);
    const box = [[kLeft, 0], [this.width - 10, this.height]];
    this.zoom.extent(box).translateExtent(box);
    this.svg.attr("width", this.width);
    if (domain)
      this.view(...domain);
    else
      this.draw();
  }

  /// Shows the cycles from `first` to before `end`.
  view(first, end) {
    const k = this.recorded.cycles / Math.max(1, end - first);
    this.svg.call(this.zoom.transform, d3.zoomIdentity.translate(kLeft, 0).scale(k)
      .translate(-this.base(Math.max(0, Math.min(first, this.recorded.cycles * (1 - 1 / k)))), 0));
    this.draw();
  }
  scale(factor) {
    const [first, end] = this.x.domain(), middle = (first + end) / 2;
    const cycles = Math.min(this.recorded.cycles, Math.max(1, (end - first) / factor));
    const start = cycles === 1 ? Math.floor(middle) : Math.round(middle - cycles / 2); // whole cycles
    this.view(start, start + cycles);
  }
  pan(share) {
    const [first, end] = this.x.domain(), cycles = Math.max(1, Math.round(Math.abs(share) * (end - first)));
    const start = Math.round(first + Math.sign(share) * cycles);
    this.view(start, start + end - first);
  }
  reset() {
    this.focused = null;
    this.view(0, this.recorded.cycles);
  }
  /// Shows one layer and greys out the others.
  focus(layer) {
    const {first, last} = this.data.layers[layer];
    this.focused = layer;
    this.view(first, last + 1);
    this.chart.scrollIntoView({block: "center"});
    this.chart.focus({preventScroll: true});
  }

  key(event) {
    const acts = {ArrowLeft: () => this.pan(-0.1), ArrowRight: () => this.pan(0.1), "+": () => this.scale(1.5),
      "=": () => this.scale(1.5), ArrowUp: () => this.scale(1.5), "-": () => this.scale(1 / 1.5),
      ArrowDown: () => this.scale(1 / 1.5), Escape: () => this.reset()};
    if (!acts[event.key] || event.ctrlKey || event.metaKey || event.altKey)
      return;
    event.preventDefault();
    acts[event.key]();
  }

  schedule() {
    if (!this.waiting)
      this.waiting = requestAnimationFrame(() => {
        this.waiting = 0;
        this.draw();
      });
  }

  /// The spans of a unit in the cycles of the view.
  inView(unit) {
    const [first, end] = this.x.domain(), {spans} = unit;
    let i = d3.bisector(span => span[0]).right(spans, first) - 1, j = Math.max(0, i);
    while (j < spans.length && spans[j][0] < end)
      ++j;
    return spans.slice(Math.max(0, i), j).filter(span => span[0] + span[1] > first);
  }

  draw() {
    this.x = (this.svg.node().__zoom || d3.zoomIdentity).rescaleX(this.base);
    const ratio = devicePixelRatio || 1, canvas = this.canvas, [first, end] = this.x.domain();
    canvas.width = this.width * ratio;
    canvas.height = this.height * ratio;
    canvas.style.width = `${this.width}px`;
    canvas.style.height = `${this.height}px`;
    const pen = this.pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.font = "12px system-ui, DejaVu Sans, sans-serif";
    const names = ["--wait", "--on-wait", "--on-bar", "--path", "--line", ...this.colors];
    this.palette = new Map(names.map(name => [name, cssColor(name)]));
    const ticks = this.x.ticks(Math.max(2, this.width / 90)).filter(Number.isInteger);
    this.axis.call(d3.axisTop(this.x).tickValues(ticks).tickFormat(d3.format(",d")));
    this.recorded.units.forEach((unit, i) => {
      const y = kTop + i * kRow;
      pen.fillStyle = this.palette.get("--line");
      pen.fillRect(kLeft, y + kRow - 3.5, this.width, 1);
      pen.save();
      pen.beginPath();
      pen.rect(kLeft, y, this.width - kLeft - 10, kRow);
      pen.clip();
      this.drawUnit(unit, y);
      pen.restore();
    });
    this.range.textContent = `Cycles ${number(Math.floor(first + 1e-6))} to ${number(Math.ceil(end - 1e-6) - 1)} of ` +
      `${number(this.data.cycles)}${this.focused === null ? "" : `, only ${this.labels[this.focused]} in colour`}`;
    if (this.details.open)
      this.list();
  }

  drawUnit(unit, y) {
    let merged = null; // the bars of one pixel: the longest and their sum
    const flush = () => {
      if (merged)
        this.drawBar(unit, merged.longest, merged.x, 1, y, Math.max(0.35, merged.sum / merged.cycles));
      merged = null;
    };
    for (const span of this.inView(unit)) {
      const from = this.x(span[0]), to = this.x(span[0] + span[1]);
      if (to - from >= 1) {
        flush();
        this.drawBar(unit, span, from, to - from, y, 1);
        continue;
      }
      if (!merged || merged.x !== Math.floor(from)) {
        flush();
        merged = {x: Math.floor(from), longest: span, sum: 0, cycles: this.x.invert(1) - this.x.invert(0)};
      }
      merged.sum += span[1];
      const [now, before] = [span, merged.longest].map(one => this.rank(unit, one));
      if (now !== before ? now > before : span[1] > merged.longest[1])
        merged.longest = span;
    }
    flush();
    for (const step of this.marksPath ? this.paths.get(unit.name) || [] : []) {
      this.pen.fillStyle = this.palette.get("--path");
      this.pen.fillRect(this.x(step.from), y + kBar, Math.max(1, this.x(step.from + step.cycles) - this.x(step.from)), 3);
    }
  }

  /// Which of the bars of one pixel is seen: the layer in focus, then work, then waits.
  rank(unit, span) {
    return this.focused !== null && this.describe(unit, span).number === this.focused ? 2 : span[2] === kBusy ? 1 : 0;
  }

  drawBar(unit, span, x, width, y, alpha) {
    const pen = this.pen, works = span[2] === kBusy, told = this.describe(unit, span);
    const isFaint = this.focused !== null && told.number !== this.focused;
    const gap = width > 4 ? 1 : 0;
    pen.globalAlpha = isFaint ? 0.2 : alpha;
    pen.fillStyle = this.palette.get(works && told.number !== null ? this.colors[told.number] : "--wait");
    pen.fillRect(x, y + 1, width - gap, kBar - 2);
    pen.globalAlpha = isFaint ? 0.4 : 1;
    const left = Math.max(x, kLeft), room = Math.min(x + width, this.width - 10) - left;
    const text = works ? told.label : told.does;
    if (room > 60 || room > 20 && pen.measureText(text).width + 8 < room) {
      pen.save();
      pen.beginPath();
      pen.rect(left, y, room - 4, kBar);
      pen.clip();
      pen.fillStyle = this.palette.get(works ? "--on-bar" : "--on-wait");
      pen.fillText(text, left + 5, y + kBar - 5);
      pen.restore();
    }
    pen.globalAlpha = 1;
  }

  /// Says which bar the pointer is on.
  point(at) {
    const cycle = at && at[0] >= kLeft && this.x ? Math.floor(this.x.invert(at[0])) : -1;
    const unit = at && this.recorded.units[Math.floor((at[1] - kTop) / kRow)];
    const inside = cycle >= 0 && cycle < this.recorded.cycles && unit;
    this.cursor.attr("visibility", inside ? "visible" : "hidden");
    if (!inside) {
      this.readout.textContent = "No bar is pointed at.";
      return;
    }
    this.cursor.attr("x", this.x(cycle)).attr("width", Math.max(1, this.x(cycle + 1) - this.x(cycle)));
    const span = unit.spans[d3.bisector(one => one[0]).right(unit.spans, cycle) - 1];
    const told = span && span[0] + span[1] > cycle ? this.describe(unit, span) : null;
    this.readout.textContent = told ? `Cycle ${number(cycle)}, ${unit.name}: ${told.does}, layer ${told.layer || "none"} ` +
      `(cycles ${number(told.first)} to ${number(told.first + told.cycles - 1)}, instruction ${told.text})`
      : `Cycle ${number(cycle)}, ${unit.name}: no instruction`;
  }

  /// The table of the bars in view.
  list() {
    const rows = [];
    for (const unit of this.recorded.units)
      for (const span of this.inView(unit))
        if (rows.length < kTableRows)
          rows.push(this.describe(unit, span));
    this.tableRows.replace(rows);
  }
}
