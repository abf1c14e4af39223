// Comfort only: without a script every fact is still on the page, and boxes link to their rows.
"use strict";
(() => {
  const tells = document.getElementById("tells");
  const maps = [...document.querySelectorAll(".map a")];
  let held = null;

  function mark(name) {
    for (const one of maps) one.classList.toggle("on", one.dataset.fn === name);
  }
  function show(link) {
    mark(link.dataset.fn);
    tells.textContent = link.querySelector("title").textContent;
    if (!link.hasAttribute("href")) return;
    const jump = document.createElement("a");
    jump.href = link.getAttribute("href");
    jump.textContent = "row in the table";
    tells.append(" · ", jump);
  }
  for (const link of maps) {
    link.addEventListener("pointerover", () => { if (!held) show(link); });
    link.addEventListener("click", (event) => {
      event.preventDefault();
      held = held === link ? null : link;
      show(link);
    });
  }
  document.addEventListener("click", (event) => {
    if (held && !event.target.closest(".map a, #tells")) { held = null; mark(""); }
  });

  const table = document.getElementById("function-table");
  if (!table) return;
  const body = table.tBodies[0], rows = [...body.rows];
  const filter = document.getElementById("filter"), shown = document.getElementById("shown");
  function narrow() {
    const wish = filter.value.toLowerCase();
    for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wish);
    shown.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} functions`;
  }
  filter.addEventListener("input", narrow);
  narrow();

  function value(row, column) {
    const cell = row.cells[column];
    const text = cell.dataset.sort ?? cell.textContent.trim().split("→").pop().trim().replaceAll(",", "");
    return text !== "" && !Number.isNaN(Number(text)) ? Number(text) : text;
  }
  function compare(a, b) {
    if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
    return typeof a === "number" ? -1 : 1;
  }
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      rows.sort((a, b) => compare(value(a, column), value(b, column)) * (down ? -1 : 1));
      body.append(...rows);
    });
  });
})();
