"use strict";
// Leads an address of the one page of before to the page that its part became.
function follow() {
  const anchor = decodeURIComponent(location.hash.slice(1));
  const pages = JSON.parse(document.getElementById("moved").textContent);
  if (!anchor || document.getElementById(anchor)) return;
  const begins = Object.keys(pages).filter((begin) => anchor.startsWith(begin));
  const longest = begins.sort((a, b) => b.length - a.length)[0];
  if (longest) location.replace(pages[longest] + location.hash);
}
addEventListener("hashchange", follow);
follow();
