// The page of a sweep: a chart of the Pareto front of each model, and the table of all points.
"use strict";
const sweep = JSON.parse(document.getElementById("data").textContent);

const HEADS = [["model", "Model"], ["target", "Target"], ["options", "Options"], ["state", "State"], ["cycles", "Cycles"],
  ["period", "Period, cycles"], ["microseconds", "Time, us"], ["clock_mhz", "Clock, MHz"], ["macs_per_cycle", "MAC/cycle"],
  ["luts", "LUTs, estimate"], ["error_percent", "Error, %"]];
const NUMBERS = new Set(["cycles", "period", "microseconds", "clock_mhz", "macs_per_cycle", "luts", "error_percent"]);

// The text of a cell.
function shown(row, name) {
  const value = row[name];
  if (name === "state" && value !== "compiled")
    return `${value}: ${row.code === null ? "" : `${row.code} `}${row.reason}`;
  if (value === null)
    return "";
  if (name === "clock_mhz")
    return `${value}, ${row.clock_source}`;
  if (name === "microseconds")
    return value.toFixed(3);
  return name === "error_percent" ? value.toPrecision(3) : String(value);
}

function nameOf(row) {
  return row.options === "" ? row.target : `${row.target} ${row.options}`;
}

// A chart of time over multipliers, with the front as a line of steps.
function drawFront(parent, rows) {
  const width = 760, height = 340, left = 64, right = 150, top = 16, bottom = 44;
  const wide = values => { // a range that is not empty, on a logarithmic axis
    const [least, most] = d3.extent(values);
    return [least / 1.4, most * 1.4];
  };
  const x = d3.scaleLog(wide(rows.map(row => row.macs_per_cycle)), [left, width - right]);
  const y = d3.scaleLog(wide(rows.map(row => row.microseconds)), [height - bottom, top]);
  const svg = parent.append("div").attr("class", "plane").append("svg").attr("viewBox", `0 0 ${width} ${height}`)
    .attr("role", "img").attr("aria-label", "time of an inference over multipliers of the target");
  svg.append("g").attr("class", "axis").attr("transform", `translate(0,${height - bottom})`)
    .call(d3.axisBottom(x).tickValues([...new Set(rows.map(row => row.macs_per_cycle))]).tickFormat(String));
  svg.append("g").attr("class", "axis").attr("transform", `translate(${left},0)`).call(d3.axisLeft(y).ticks(5, "~g"));
  svg.append("text").attr("x", left).attr("y", height - 8).text("multiply-accumulates per cycle of the target");
  svg.append("text").attr("x", left + 6).attr("y", top + 4).text("us");
  const front = rows.filter(row => row.pareto).sort((a, b) => a.macs_per_cycle - b.macs_per_cycle);
  const line = d3.line().x(row => x(row.macs_per_cycle)).y(row => y(row.microseconds)).curve(d3.curveStepAfter);
  svg.append("path").attr("class", "front").attr("d", line(front));
  const dots = svg.selectAll("circle").data(rows).enter().append("circle").attr("class", row => row.pareto ? "best" : null)
    .attr("cx", row => x(row.macs_per_cycle)).attr("cy", row => y(row.microseconds)).attr("r", row => row.pareto ? 6 : 4);
  dots.append("title").text(row => `${nameOf(row)}: ${row.cycles} cycles, ${row.microseconds.toFixed(3)} us`);
  // One label for rows at the same place.
  const labels = d3.nest().key(row => `${row.macs_per_cycle} ${row.microseconds}`).entries(front).map(entry => entry.values);
  svg.selectAll("text.label").data(labels).enter().append("text").attr("class", "label")
    .attr("x", some => x(some[0].macs_per_cycle) + 10).attr("y", some => y(some[0].microseconds) - 8)
    .text(some => some.length === 1 ? nameOf(some[0]) : `${nameOf(some[0])} and ${some.length - 1} more`);
}

function drawFronts() {
  for (const model of new Set(sweep.rows.map(row => row.model))) {
    const rows = sweep.rows.filter(row => row.model === model && row.state === "compiled");
    const section = d3.select("#fronts").append("section").attr("class", "model");
    section.append("h2").text(`Pareto front of ${model}`);
    if (rows.length === 0) {
      section.append("p").attr("class", "absent").text("No point of this model compiled.");
      continue;
    }
    section.append("p").text("Each dot is a program. For the red ones, no other program is faster with as few multipliers, or as fast with fewer.");
    drawFront(section, rows);
  }
}

function compare(a, b) {
  if (a === null || b === null)
    return (a === null) - (b === null);
  return typeof a === "number" ? a - b : a.localeCompare(b);
}

function drawPoints() {
  const body = d3.select("#points .body").append("div").attr("class", "scroll").append("table");
  const heads = body.append("thead").append("tr"), cells = body.append("tbody");
  let sorted = null, falls = false;
  const draw = rows => {
    cells.selectAll("tr").remove();
    for (const row of rows) {
      const line = cells.append("tr").attr("class", row.pareto ? "best" : null);
      for (const [name] of HEADS)
        line.append(name === "model" ? "th" : "td").attr("class", NUMBERS.has(name) ? "number" : null)
          .attr("scope", name === "model" ? "row" : null).text(shown(row, name));
    }
  };
  for (const [name, text] of HEADS)
    heads.append("th").attr("scope", "col").attr("class", NUMBERS.has(name) ? "number" : null).append("button").text(text)
      .on("click", () => {
        falls = sorted === name && !falls;
        sorted = name;
        draw([...sweep.rows].sort((a, b) => (falls ? -1 : 1) * compare(a[name], b[name])));
      });
  draw(sweep.rows);
}

function drawFigures() {
  const list = d3.select("#figures");
  for (const [state, count] of [["points", sweep.rows.length], ...Object.entries(sweep.states)]) {
    if (count === 0)
      continue;
    const one = list.append("div");
    one.append("dt").text(state);
    one.append("dd").text(count);
  }
  d3.select("#title").text(`Sweep of ${[...new Set(sweep.rows.map(row => row.model))].join(", ")}`);
}

drawFigures();
drawFronts();
drawPoints();
