// The search of the site. The index is a script, which a page from disk can load, and is loaded with the first query.
"use strict";

const SHOWN = 20;
const base = document.currentScript.dataset.base;
const query = document.getElementById("query"), results = document.getElementById("results");
let index = null; // a promise

function load(file) {
  return new Promise((loaded, failed) => {
    const script = document.createElement("script");
    script.src = `${base}/search/${file}`;
    script.onload = loaded;
    script.onerror = () => failed(new Error(`${file} is missing`));
    document.head.append(script);
  });
}

async function build() {
  await Promise.all([load("lunr.js"), load("index.js")]);
  // lunr merges nodes of its set of words that have equal keys, but its own keys do not tell an edge "a" to node 12 and
  // an edge "3" to node 4 from an edge "a" to node 1234. Words are then lost, and others appear that are not indexed.
  lunr.TokenSet.prototype.toString = function () {
    return this._str ?? (this.final ? "1" : "0") + Object.keys(this.edges).sort().map(edge => `${edge}${this.edges[edge].id},`).join("");
  };
  return lunr(function () {
    this.ref("number");
    this.field("page", {boost: 4});
    this.field("section", {boost: 8});
    this.field("text");
    SECTIONS.forEach(([, page, section, text], number) => this.add({number, page, section, text}));
  });
}

/** The sections that have every word of the text, or words that begin with it; the best first. */
function find(built, text) {
  const words = lunr.tokenizer(text).map(String);
  const matches = word => new Map(built.query(q => {
    q.term(word, {boost: 10});
    q.term(word, {usePipeline: false, wildcard: lunr.Query.wildcard.TRAILING});
  }).map(found => [found.ref, found.score]));
  const [first, ...rest] = words.map(matches);
  const all = [...first || []].filter(([ref]) => rest.every(one => one.has(ref)));
  const score = ([ref, own]) => rest.reduce((sum, one) => sum + one.get(ref), own);
  return [words, all.sort((a, b) => score(b) - score(a)).map(([ref]) => SECTIONS[ref])];
}

/** The text around the first word that it has, with all words marked. */
function excerpt(words, text) {
  const at = words.map(word => text.toLowerCase().indexOf(word)).find(position => position >= 0) ?? 0;
  const part = text.slice(Math.max(0, at - 60), at + 140), paragraph = document.createElement("p");
  const pattern = new RegExp(`(${words.map(word => word.replace(/[^\w]/g, "\\$&")).join("|")})`, "i");
  for (const [number, piece] of part.split(pattern).entries()) {
    const node = document.createElement(number % 2 ? "mark" : "span");
    node.textContent = piece;
    paragraph.append(node);
  }
  return paragraph;
}

async function search() {
  const text = query.value.trim(), list = results.querySelector("ol"), status = results.querySelector("[role=status]");
  results.hidden = text.length < 2;
  if (results.hidden) return;
  index ??= build();
  let words, found;
  try {
    [words, found] = find(await index, text);
  } catch (error) {
    index = null;
    status.textContent = `The search does not work: ${error.message}.`;
    return;
  }
  if (text !== query.value.trim()) return; // of a later key
  status.textContent = found.length > SHOWN ? `${found.length} sections, the best ${SHOWN}` : `${found.length} sections`;
  list.replaceChildren(...found.slice(0, SHOWN).map(([location, page, section, body]) => {
    const item = document.createElement("li"), link = document.createElement("a");
    link.href = `${base}/${location}`;
    link.textContent = page === section ? page : `${page}: ${section}`;
    item.append(link, excerpt(words, body));
    return item;
  }));
}

query.addEventListener("input", search);
results.addEventListener("click", event => { if (event.target.closest("a")) close(); });
document.getElementById("search").addEventListener("submit", event => {
  event.preventDefault();
  results.querySelector("a")?.click();
});
document.addEventListener("keydown", event => {
  if (event.key === "Escape") close();
  if (event.key === "/" && !event.target.closest("input, textarea")) {
    event.preventDefault();
    query.focus();
  }
});

function close() {
  query.value = "";
  results.hidden = true;
}
