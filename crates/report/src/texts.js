// Finds words in the texts of the report, and opens a row's prompt and answer.
(() => {
  const data = JSON.parse(document.getElementById("texts-data").textContent);
  const [find, list, count, more] = ["find", "rows", "count", "more"].map((name) => document.getElementById(`texts-${name}`));
  const lower = data.texts.map((text) => text.toLowerCase());
  const MOST = 100;
  let found = [], shown = 0;

  const make = (name, text, parent) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  };

  const open = (button, row, line) => {
    const isOpen = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!isOpen));
    if (isOpen) return line.nextSibling.remove();
    const detail = document.createElement("tr");
    line.after(detail);
    const cell = make("td", undefined, detail);
    cell.colSpan = 4;
    const turns = row.asked.concat(row.answer === null ? [] : [["answer", row.answer]]);
    for (const [role, text] of turns) {
      make("h3", role, cell);
      make("pre", data.texts[text], cell).tabIndex = 0;
    }
    if (row.answer === null) make("p", "no answer", cell);
  };

  const add = () => {
    for (const row of found.slice(shown, shown + MOST)) {
      const line = make("tr", undefined, list);
      const button = make("button", row.call, make("th", undefined, line));
      button.type = "button";
      button.setAttribute("aria-expanded", "false");
      button.addEventListener("click", () => open(button, row, line));
      line.firstChild.scope = "row";
      make("td", row.labels, line);
      make("td", row.decided, line);
      make("td", row.answer === null ? "no answer" : data.texts[row.answer].slice(0, 160), line);
    }
    shown = Math.min(found.length, shown + MOST);
    more.hidden = shown === found.length;
  };

  const search = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter((word) => word);
    const having = words.map((word) => new Set(lower.flatMap((text, at) => (text.includes(word) ? [at] : []))));
    const has = (row, at) => `${row.call} ${row.labels} ${row.decided}`.toLowerCase().includes(words[at]) || having[at].has(row.answer) || row.asked.some(([, text]) => having[at].has(text));
    found = data.rows.filter((row) => words.every((_, at) => has(row, at)));
    shown = 0;
    list.replaceChildren();
    count.textContent = `${found.length.toLocaleString("en")} of ${data.rows.length.toLocaleString("en")} calls`;
    add();
  };

  find.addEventListener("input", search);
  more.addEventListener("click", add);
  search();
})();
