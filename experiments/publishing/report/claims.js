"use strict";
// Filters and sorts what is described, and takes lines of charts away. Without it all are shown.

function toggleLines() {
  for (const legend of document.querySelectorAll("svg[role=img] + .legend")) {
    const lines = legend.previousElementSibling.querySelectorAll(":scope > .line");
    [...legend.children].forEach((entry, i) => {
      const button = document.createElement("button");
      button.type = "button";
      button.setAttribute("aria-pressed", "true");
      button.append(...entry.childNodes);
      entry.append(button);
      button.addEventListener("click", () => {
        const off = lines[i].classList.toggle("off");
        button.setAttribute("aria-pressed", String(!off));
      });
    });
  }
}

function chooseClaims() {
  const form = document.querySelector(".filters");
  if (!form) return;
  const fold = form.closest("details");
  const table = document.querySelector("table.claims");
  const body = table.tBodies[0];
  const inOrder = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  const paperOf = papers(form.elements.where.options);
  const facts = new Map(inOrder.map((row) => [row, factsOf(row)]));

  function papers(options) {
    const found = new Map();
    let paper = "";
    for (const option of options) {
      if (option.text.startsWith("–")) found.set(option.value, paper);
      else paper = option.value;
    }
    return found;
  }

  function factsOf(row) {
    const [, dataset, extent] = row.cells[1].textContent.match(/^(\S+)\s+\((.*)\)/);
    const where = row.cells[7].lastElementChild.getAttribute("href").split("/")[0];
    return { dataset, extent, where, text: row.textContent.toLowerCase() };
  }

  function fits(row) {
    const is = facts.get(row);
    const { where, dataset, extent, words } = form.elements;
    return (!where.value || is.where === where.value || paperOf.get(is.where) === where.value)
      && (!dataset.value || is.dataset === dataset.value)
      && (!extent.value || is.extent === extent.value)
      && words.value.toLowerCase().split(/\s+/).every((word) => is.text.includes(word));
  }

  function filter() {
    let shown = 0;
    for (const row of inOrder) {
      row.hidden = !fits(row);
      shown += !row.hidden;
    }
    form.querySelector("output").value = `${shown} of ${inOrder.length} effects`;
  }

  // --- sorting ---------------------------------------------------------------------------------

  function valueOf(row, column) {
    const cell = row.cells[column];
    if (!("number" in heads[column].dataset)) return cell.textContent.trim();
    const number = cell.dataset.value ?? cell.textContent.replace("−", "-");
    return number.trim() === "" ? NaN : Number(number);
  }

  function compare(a, b) {
    if (typeof a === "string") return a.localeCompare(b, "en", { numeric: true });
    return a - b;
  }

  function sort(column, descending) {
    const known = inOrder.filter((row) => !Number.isNaN(valueOf(row, column)));
    const unknown = inOrder.filter((row) => Number.isNaN(valueOf(row, column)));
    const sign = descending ? -1 : 1;
    known.sort((a, b) => sign * compare(valueOf(a, column), valueOf(b, column)));
    body.append(...known, ...unknown); // what has no number stands last in either direction
  }

  function mark(column, direction) {
    heads.forEach((head, i) => {
      if (i === column) head.setAttribute("aria-sort", direction);
      else head.removeAttribute("aria-sort");
    });
  }

  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const descending = head.getAttribute("aria-sort") === "ascending";
      sort(column, descending);
      mark(column, descending ? "descending" : "ascending");
    });
  });

  // --- what starts it --------------------------------------------------------------------------

  function clear() {
    for (const field of form.elements) if (field.name) field.value = "";
  }

  function everything() {
    clear();
    body.append(...inOrder);
    mark(-1);
    filter();
  }

  function reveal() {
    const row = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!row || !fold.contains(row)) return;
    if (fold.open && !row.hidden) return;
    fold.open = true;
    if (row.hidden) everything();
    row.scrollIntoView();
  }

  form.addEventListener("input", filter);
  form.addEventListener("change", filter); // not every way of choosing an option is an input
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    everything();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-where]");
    if (!link) return;
    event.preventDefault();
    clear();
    form.elements.where.value = link.dataset.where;
    filter();
    fold.open = true;
    location.hash = "described";
  });
  addEventListener("hashchange", reveal);
  form.hidden = false;
  filter();
  reveal();
}

toggleLines();
chooseClaims();
