// Shows methods whose names have what is typed, and colours a family of curves.
const filter = document.getElementById("filter");
filter.addEventListener("input", () => {
  const wanted = filter.value.toLowerCase();
  for (const row of document.querySelectorAll("#ranking tbody tr")) {
    row.hidden = !row.cells[1].textContent.toLowerCase().includes(wanted);
  }
});
const family = document.getElementById("family");
const colour = () => {
  const wanted = family.value.split(" ");
  for (const line of document.querySelectorAll(".line")) {
    const chosen = wanted.includes(line.dataset.method);
    line.classList.toggle("chosen", chosen);
    if (chosen) line.parentNode.appendChild(line); // above the grey ones
  }
  for (const mark of document.querySelectorAll(".marks li")) {
    mark.hidden = !wanted.includes(mark.dataset.method);
  }
};
family.addEventListener("change", colour);
colour();
