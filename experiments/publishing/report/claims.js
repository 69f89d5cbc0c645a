"use strict";
// Filters, pages, sorts and exports claims; what is chosen stands in the address, behind the #.
// Without it all are shown.

function chooseClaims() {
  const EACH = 25;
  const form = document.querySelector(".filters");
  if (!form) return;
  const fields = ["verdict", "paper", "data", "rests", "words"].map((name) => form.elements[name]);
  const body = document.querySelector("table.claims").tBodies[0];
  const heads = [...body.parentNode.tHead.rows[0].cells];
  const heading = document.getElementById("claims");
  const inOrder = [...body.rows];
  const texts = new Map(inOrder.map((row) => [row, row.textContent.toLowerCase()]));
  let page = 1;

  function fits(row) {
    const { verdict, paper, data, rests, words } = form.elements;
    const is = row.dataset;
    return (!verdict.value || is.verdict === verdict.value
        || (verdict.value === "primary" && is.verdict !== "described"))
      && (!paper.value || is.paper === paper.value || is.artefact === paper.value)
      && (!data.value || is.sets.split(" ").includes(data.value))
      && (!rests.value || is.rests === rests.value)
      && words.value.toLowerCase().split(/\s+/).every((word) => texts.get(row).includes(word));
  }

  const fitting = () => [...body.rows].filter(fits);

  function show() {
    const rows = fitting();
    const pages = Math.max(1, Math.ceil(rows.length / EACH));
    page = Math.min(Math.max(page, 1), pages);
    for (const row of inOrder) row.hidden = true;
    rows.forEach((row, i) => {
      row.hidden = false;
      row.classList.toggle("elsewhere", Math.floor(i / EACH) !== page - 1); // printed all the same
    });
    heading.textContent = inWords(rows.length);
    for (const pager of document.querySelectorAll(".pager")) {
      pager.hidden = pages === 1;
      pager.querySelector("span").textContent = `page ${page} of ${pages}`;
      pager.querySelector("[name=before]").disabled = page === 1;
      pager.querySelector("[name=next]").disabled = page === pages;
    }
  }

  function inWords(n) {
    const first = (page - 1) * EACH + 1;
    const last = Math.min(page * EACH, n);
    const chosen = fields.filter((field) => field.value).map((field) =>
      field.options ? field.selectedOptions[0].text.replace(/^– /, "") : `“${field.value}”`);
    const part = n > EACH ? `Claims ${first} to ${last} of ${n}` : `${n} claim${n === 1 ? "" : "s"}`;
    return `${part}: ${chosen.join("; ") || "all, the primary ones first"}`;
  }

  // --- the address -----------------------------------------------------------------------------

  function write() {
    const params = new URLSearchParams();
    for (const field of fields) if (field.value) params.set(field.name, field.value);
    if (page > 1) params.set("page", page);
    location.replace(`#${params}`);
  }

  function read() {
    const text = location.hash.slice(1);
    const row = document.getElementById(decodeURIComponent(text));
    const params = new URLSearchParams(text.includes("=") ? text : "");
    if (text && !text.includes("=") && !body.contains(row)) return;
    for (const field of fields) {
      field.value = params.get(field.name) ?? "";
      if (field.selectedIndex === -1) field.value = ""; // an address with a name of before
    }
    page = Number(params.get("page")) || 1;
    if (body.contains(row)) page = Math.floor(fitting().indexOf(row) / EACH) + 1;
    show();
    if (body.contains(row)) row.scrollIntoView();
  }

  function turn(to) {
    page = to;
    show();
    write();
  }

  // --- sorting ---------------------------------------------------------------------------------

  function valueOf(row, column) {
    if (!("number" in heads[column].dataset)) return row.cells[column].textContent.trim();
    const isEffect = heads[column].textContent.startsWith("Effect");
    const text = isEffect ? row.dataset.numbers.split(" ")[0] : row.cells[column].textContent;
    return text.trim() === "" ? NaN : Number(text.replace("−", "-"));
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
      turn(1);
    });
  });

  // --- the file --------------------------------------------------------------------------------

  function csv() {
    const names = ["claim", "verdict", "paper", "artefact", "data", "rests_on", "sentence", "place",
      "effect", "low", "high", "unit", "paper_effect", "n", "smallest_effect", "note"];
    const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const lines = fitting().map((row) => {
      const cell = (i) => row.cells[i].textContent.trim();
      const is = row.dataset;
      return [row.id, is.verdict, is.paper, is.artefact, is.sets, is.rests,
        row.querySelector(".sentence").textContent, row.querySelector(".place").textContent,
        ...`${is.numbers}  `.split(" ").slice(0, 3), is.unit, cell(4).replace("−", "-"), cell(5),
        cell(6), cell(7)];
    });
    return [names, ...lines].map((line) => line.map(quoted).join(",") + "\n").join("");
  }

  function save() {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([csv()], { type: "text/csv" }));
    link.download = "claims.csv";
    link.click();
    URL.revokeObjectURL(link.href);
  }

  // --- what starts it --------------------------------------------------------------------------

  form.addEventListener("input", () => turn(1));
  form.addEventListener("change", () => turn(1)); // not every way of choosing is an input
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    for (const field of fields) field.value = "";
    body.append(...inOrder);
    mark(-1);
    turn(1);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.elements.csv.addEventListener("click", save);
  for (const pager of document.querySelectorAll(".pager")) {
    pager.querySelector("[name=before]").addEventListener("click", () => turn(page - 1));
    pager.querySelector("[name=next]").addEventListener("click", () => turn(page + 1));
  }
  addEventListener("hashchange", read);
  form.hidden = false;
  read();
  show();
}

chooseClaims();
