// Shows methods whose names have what is typed.
const filter = document.getElementById("filter");
filter.addEventListener("input", () => {
  const wanted = filter.value.toLowerCase();
  for (const row of document.querySelectorAll("#ranking tbody tr")) {
    row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted);
  }
});
