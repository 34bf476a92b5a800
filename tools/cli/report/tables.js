"use strict";
// Tables with a caption, sortable heads, a filter and as many rows as a page shows at once. Text
// from the model is set as text only.

const kShownRows = 50;

/// An element with attributes and children; strings become text.
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const number = value => value === null || value === undefined ? "–" : value.toLocaleString("en");
const percent = share => share > 0 && share < 0.001 ? "below 0.1 %" : `${(100 * share).toFixed(1)} %`;

/// A bar for a share of 0 to 1; the figure stands beside it.
function bar(share, more = "") {
  const inner = element("i");
  inner.style.width = `${100 * Math.min(1, share)}%`;
  return element("span", {class: `bar ${more}`, "aria-hidden": "true"}, inner);
}

function swatch(color) {
  const made = element("span", {class: "swatch", "aria-hidden": "true"});
  made.style.background = color;
  return made;
}

/// Replaces the body of a section. A column has a title, `cell` (text or an element of a row) and,
/// if it sorts, `key` (a number or text of a row); the first column heads its row. `filter` names
/// the input and gives the text of a row.
function table(host, {caption, columns, rows, filter, sorted}) {
  let order = sorted || null, all = false, words = "";
  const body = element("tbody"), count = element("span", {class: "muted", role: "status"});
  const more = element("button", {type: "button"});
  const heads = columns.map((column, i) => {
    const head = element("th", {scope: "col", class: column.isNumber ? "number" : ""});
    if (!column.key) {
      head.append(column.title);
      return head;
    }
    const button = element("button", {type: "button", title: "Sort by this column"}, column.title);
    button.addEventListener("click", () => {
      const isDown = order && order.column === i ? !order.isDown : Boolean(column.isNumber);
      order = {column: i, isDown};
      show();
    });
    head.append(button);
    return head;
  });
  function show() {
    let shown = rows.filter(row => !filter || filter.text(row).toLowerCase().includes(words));
    if (order) {
      const key = columns[order.column].key, sign = order.isDown ? -1 : 1;
      const rank = value => value === null || value === undefined ? -Infinity : value;
      shown = [...shown].sort((a, b) => sign * d3.ascending(rank(key(a)), rank(key(b))));
    }
    heads.forEach((head, i) => {
      head.removeAttribute("aria-sort");
      if (order && order.column === i)
        head.setAttribute("aria-sort", order.isDown ? "descending" : "ascending");
    });
    const listed = all ? shown : shown.slice(0, kShownRows);
    body.replaceChildren(...listed.map(row => element("tr", {}, ...columns.map((column, i) => {
      const attributes = column.isNumber ? {class: "number"} : {};
      const cell = i === 0 ? element("th", {...attributes, scope: "row"}) : element("td", attributes);
      cell.append(...[column.cell(row)].flat());
      return cell;
    }))));
    count.textContent = filter ? `${number(shown.length)} of ${number(rows.length)} rows` : "";
    more.hidden = listed.length === shown.length;
    more.textContent = `Show all ${number(shown.length)} rows`;
  }
  more.addEventListener("click", () => {
    all = true;
    show();
  });
  if (filter) {
    const input = element("input", {type: "search", autocomplete: "off"});
    input.addEventListener("input", () => {
      words = input.value.trim().toLowerCase();
      show();
    });
    host.append(element("div", {class: "tools"}, element("label", {}, `${filter.label} `, input), count));
  }
  host.append(element("div", {class: "scroll"}, element("table", {}, element("caption", {}, caption),
    element("thead", {}, element("tr", {}, ...heads)), body)), more);
  show();
  return {replace(found) {
    rows = found;
    show();
  }};
}
