// What scrolls must be reachable with the keyboard: such a box becomes a stop of the Tab key.
"use strict";

function makeReachable() {
  for (const box of document.querySelectorAll("pre, .table-wrapper, figure.freya-view")) {
    if (box.scrollWidth > box.clientWidth + 1) {
      box.tabIndex = 0;
    } else {
      box.removeAttribute("tabindex");
    }
  }
}

// Furo has two columns at the sides; somebody who hears the page gets their names.
function nameTheColumns() {
  document.querySelector("aside.sidebar-drawer")?.setAttribute("aria-label", "The book");
  document.querySelector("aside.toc-drawer")?.setAttribute("aria-label", "This page");
}

document.addEventListener("DOMContentLoaded", makeReachable);
document.addEventListener("DOMContentLoaded", nameTheColumns);
window.addEventListener("resize", makeReachable);

// In such a box the arrow keys scroll; elsewhere they turn the page, which is Sphinx's doing.
function keepArrows(event) {
  if (event.key.startsWith("Arrow") && event.target.matches("[tabindex='0']")) {
    event.stopPropagation();
  }
}

document.addEventListener("keydown", keepArrows, { capture: true });
