"use strict";
// Opens folds that an address points into or that are printed, and enlarges pictures.

function openFolds() {
  function reveal() {
    const part = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    let fold = part?.closest("details:not([open])");
    if (!fold) return;
    for (; fold; fold = part.closest("details:not([open])")) fold.open = true;
    part.scrollIntoView();
  }
  addEventListener("hashchange", reveal);
  reveal();
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details.fold:not([open])")];
    for (const fold of opened) fold.open = true;
  });
  addEventListener("afterprint", () => {
    for (const fold of opened) fold.open = false;
  });
}

function enlargePictures() {
  const dialog = document.createElement("dialog");
  const close = document.createElement("button");
  const picture = document.createElement("img");
  dialog.className = "enlarged";
  dialog.setAttribute("aria-label", "Picture, enlarged");
  close.textContent = "Close";
  dialog.append(close, picture);
  dialog.addEventListener("click", () => dialog.close()); // Escape closes it, too
  for (const link of document.querySelectorAll("a.enlarge")) {
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return; // a tab of its own
      event.preventDefault();
      const small = link.querySelector("img");
      picture.src = small.src;
      picture.alt = small.alt;
      picture.width = Math.max(small.getAttribute("width"), innerWidth);
      document.body.append(dialog);
      dialog.showModal();
    });
  }
}

openFolds();
enlargePictures();
