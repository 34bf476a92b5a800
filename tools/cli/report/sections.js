// Fills the sections of the page from its data.

const data = JSON.parse(document.getElementById("data").textContent);
const bodyOf = id => document.querySelector(`#${id} .body`);
const absent = (id, text) => bodyOf(id).append(element("p", {class: "absent"}, text));
const kNeedsModel = "This section needs the model: run sluice report with the ONNX file instead of the program file.";

/// Of a program that runs several times for an inference, the plan is that of one run.
function addRuns(id) {
  if (data.runs > 1)
    bodyOf(id).append(element("p", {}, `The program runs ${number(data.runs)} times for each inference. This section covers one ` +
      `run, of ${number(data.plan.spaced)} cycles.`));
}

/// What passes on the critical path, for who meets these words here.
const kDelays = {
  "block products": "a matrix unit issues its block products, one in each cycle",
  "vector beats": "a vector unit issues its rows, one in each cycle",
  "host rows": "rows pass the host port, one in each cycle",
  "matrix pipeline": "a product is on its way through the matrix unit",
  "vector pipeline": "a row is on its way through the vector unit",
  "network": "a row is on its way from one core to another or to the host",
  "network busy": "a row waits behind others in the network",
  "change of path": "a beat of a longer path is ahead in the vector unit",
  "outbox full": "a unit has no room for one more row to send",
  "result FIFO full": "a matrix unit has no room for one more result",
  "no instruction": "the next instruction is not there yet",
  "wait beats": "a beat only waits",
};

function header() {
  const microseconds = data.cycles / data.clock_mhz;
  document.title = `${data.model} on ${data.target}: Sluice report`;
  document.getElementById("title").textContent = `${data.model} on ${data.target}`;
  document.getElementById("about").textContent = `From ${data.file}, compiled by sluice ${data.compiler} for ${data.cores} ` +
    `core${data.cores === 1 ? "" : "s"} of ${data.lanes} lanes`;
  const slowest = slowestLayer();
  const matrix = data.units.filter(unit => unit.unit === "matrix");
  const busy = d3.mean(matrix, unit => unit.utilisation) || 0;
  const figures = [
    ["Latency", `${number(data.cycles)} cycles`, `${microseconds.toFixed(3)} µs at ${data.clock_mhz} MHz, ${data.clock_source}`],
    ["Matrix units at work", percent(busy), `of the time, on average of ${matrix.length}`],
    ["Slowest layer", slowest ? slowest.title : "none", slowest ? `${number(slowest.cycles)} cycles, ` +
      `${percent(slowest.cycles / data.cycles)}` : ""],
    ["Parameters", number(data.parameters), `${number(data.macs)} multiply-accumulates`]];
  document.getElementById("figures").append(...figures.map(([name, value, more]) => element("div", {},
    element("dt", {}, name), element("dd", {}, value, element("small", {}, more)))));
  document.getElementById("sentences").append(...data.summary.map(one => element("li", {}, one)));
  document.getElementById("contents").append(...[...document.querySelectorAll("main section")].map(section =>
    element("li", {}, element("a", {href: `#${section.id}`}, section.querySelector("h2").textContent))));
}

function slowestLayer() {
  const ofModel = data.layers.filter(layer => layer.operators.length);
  return ofModel.length ? ofModel.reduce((most, one) => one.cycles > most.cycles ? one : most) : null;
}

function memories() {
  const cores = [...new Set(data.memory.map(one => one.core))];
  const kinds = [...new Set(data.memory.map(one => one.memory))];
  const of = new Map(data.memory.map(one => [`${one.core}/${one.memory}`, one]));
  table(bodyOf("memories"), {caption: "Used and whole size of every memory, in its own units", rows: cores, columns: [
    {title: "Core", cell: core => core === "host port" ? core : `core ${core}`},
    ...kinds.map(kind => ({title: kind, cell: core => {
      const one = of.get(`${core}/${kind}`);
      return one ? [`${number(one.used)} of ${number(one.capacity)}`, bar(one.used / one.capacity, "under")] : "–";
    }}))]});
}

function layouts() {
  if (!data.tensors)
    return absent("layouts", kNeedsModel);
  const shape = one => `[${one.shape.map((extent, axis) => `${extent}${axis === one.data_dim ? "!" : ""}`).join(" ")}]`;
  table(bodyOf("layouts"), {caption: "Tensors in the order of the model", rows: data.tensors,
    filter: {label: "Filter tensors", text: one => `${one.name} ${shape(one)} ${one.why}`}, columns: [
      {title: "Tensor", cell: one => one.name || "(no name)", key: one => one.name},
      {title: "Shape", cell: one => element("code", {}, shape(one))},
      {title: "Data dimension", cell: one => one.data_dim === null ? "none, a constant" : `axis ${one.data_dim}`,
        key: one => one.data_dim},
      {title: "Reason", cell: one => one.why || "–", key: one => one.why}]});
}

function path() {
  if (!data.plan)
    return absent("path", kNeedsModel);
  addRuns("path");
  const sums = d3.nest().key(step => step.what).rollup(steps => d3.sum(steps, step => step.cycles))
    .entries(data.plan.critical_path).sort((a, b) => b.value - a.value);
  const share = cycles => cycles / data.plan.spaced;
  const stage = number => number === 0 ? "inputs" : data.plan.stages[number].nodes.map(node =>
    `${node.name || `node ${node.index}`} (${node.op})`).join(", ");
  table(bodyOf("path"), {caption: "Cycles of the critical path by what passes in them", rows: sums, columns: [
    {title: "What passes", cell: one => one.key},
    {title: "Cycles", isNumber: true, cell: one => number(one.value)},
    {title: "Share", isNumber: true, cell: one => [percent(share(one.value)), bar(share(one.value))]},
    {title: "Meaning", cell: one => kDelays[one.key] || ""}]});
  bodyOf("path").append(element("h3", {}, "Step by step"));
  table(bodyOf("path"), {caption: "The critical path in the order of time", rows: data.plan.critical_path, columns: [
    {title: "What passes", cell: step => step.what},
    {title: "First cycle", isNumber: true, cell: step => number(step.from)},
    {title: "Cycles", isNumber: true, cell: step => number(step.cycles)},
    {title: "Unit", cell: step => step.unit},
    {title: "Nodes", cell: step => stage(step.stage)}]});
}

function plans() {
  if (!data.plan)
    return absent("plans", kNeedsModel);
  addRuns("plans");
  const best = data.plan.spaced;
  const rows = [{choice: data.plan.choice, cycles: best, why: "", plans: 1, chosen: true}, ...data.plan.losers];
  bodyOf("plans").append(element("p", {}, `The chosen plan takes ${number(best)} cycles; no plan of these rows takes less than ` +
    `${number(data.plan.floor.cycles)}. ${number(data.plan.losers.reduce((sum, one) => sum + one.plans, 0))} other plans were tried. ` +
    "Each line says what they did differently from the chosen one, and why they lost."));
  table(bodyOf("plans"), {caption: "The chosen plan and the others, the fastest first", rows,
    sorted: {column: 1, isDown: false}, columns: [
    {title: "Plan", cell: one => one.chosen ? [one.choice, element("span", {class: "badge"}, "chosen")] : one.choice},
    {title: "Cycles", isNumber: true, cell: one => number(one.cycles), key: one => one.cycles === null ? Infinity : one.cycles},
    {title: "Plans", isNumber: true, cell: one => number(one.plans)},
    {title: "More", isNumber: true, cell: one => one.cycles === null ? "–" : one.cycles === best ? "0" :
      `+${number(one.cycles - best)}`},
    {title: "Reason", cell: one => one.why || "–"}]});
}

function layers(timeline) {
  const slowest = slowestLayer(), share = one => one.cycles / data.cycles;
  const rows = data.layers.map((layer, number) => ({...layer, number}));
  table(bodyOf("layers"), {caption: "Layers, the slowest first", rows, sorted: {column: 1, isDown: true},
    filter: {label: "Filter layers", text: one => one.title}, columns: [
      {title: "Layer", key: one => one.title, cell: one => [swatch(`var(${timeline.colors[one.number]})`), one.title,
        ...(slowest && one.title === slowest.title ? [element("span", {class: "badge"}, "slowest")] : [])]},
      {title: "Cycles", isNumber: true, key: one => one.cycles, cell: one => number(one.cycles)},
      {title: "Share", isNumber: true, key: one => one.cycles, cell: one => [percent(share(one)), bar(share(one))]},
      {title: "First beat", isNumber: true, key: one => one.first, cell: one => number(one.first)},
      {title: "Last beat", isNumber: true, key: one => one.last, cell: one => number(one.last)},
      {title: "Block products", isNumber: true, key: one => one.blocks, cell: one => number(one.blocks)},
      {title: "Vector rows", isNumber: true, key: one => one.rows, cell: one => number(one.rows)},
      {title: "In the timeline", cell: one => {
        if (one.first === null || one.first >= data.timeline.cycles)
          return "–";
        const button = element("button", {type: "button", "aria-label": `Show ${one.title} in the timeline`}, "Show");
        button.addEventListener("click", () => timeline.focus(one.number));
        return button;
      }}]});
}

function accuracy() {
  const found = data.accuracy;
  if (!found)
    return absent("accuracy", data.plan ? "The program was not compared with the model." : kNeedsModel);
  const source = found.data ? `${number(found.data_inputs)} of them from ${found.data}, the others random` : "all random";
  bodyOf("accuracy").append(element("p", {}, `${found.text} (${source}).`));
  if (!found.data)
    bodyOf("accuracy").append(element("p", {class: "muted"}, "The option --data measures it with inputs of your own."));
}

header();
memories();
layouts();
const timeline = new Timeline(bodyOf("timeline"), data);
path();
plans();
layers(timeline);
accuracy();
requestAnimationFrame(() => {
  document.documentElement.dataset.loaded = performance.now().toFixed(0);
});
