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

// On a narrow screen a table that does not fit, or only with a word or two in a line, becomes a list:
// row by row, each cell with its head.
function listRows() {
  const narrow = window.matchMedia("(max-width: 46em)").matches;
  for (const table of document.querySelectorAll(".table-wrapper > table.docutils")) {
    table.classList.remove("rows");
    if (narrow && isTooWide(table)) {
      nameTheCells(table);
      table.classList.add("rows");
    }
  }
}

function isTooWide(table) {
  const box = table.parentElement;
  if (box.scrollWidth > box.clientWidth + 1) {
    return true;
  }
  table.style.width = "max-content";
  const unbroken = table.offsetWidth;
  table.style.width = "";
  return table.rows[0].cells.length > 2 && unbroken > 1.8 * box.clientWidth;
}

function nameTheCells(table) {
  const heads = [...table.querySelectorAll("thead th")].map((head) => head.textContent.trim());
  for (const row of table.querySelectorAll("tbody tr")) {
    [...row.cells].forEach((cell, place) => {
      if (place > 0 && heads[place]) {
        cell.dataset.head = heads[place];
      }
    });
  }
}

// Furo has two columns at the sides; somebody who hears the page gets their names.
function nameTheColumns() {
  document.querySelector("aside.sidebar-drawer")?.setAttribute("aria-label", "The book");
  document.querySelector("aside.toc-drawer")?.setAttribute("aria-label", "This page");
}

function fit() {
  listRows();
  makeReachable();
}

document.addEventListener("DOMContentLoaded", fit);
document.addEventListener("DOMContentLoaded", nameTheColumns);
window.addEventListener("resize", fit);

// In such a box the arrow keys scroll; elsewhere they turn the page, which is Sphinx's doing.
function keepArrows(event) {
  if (event.key.startsWith("Arrow") && event.target.matches("[tabindex='0']")) {
    event.stopPropagation();
  }
}

document.addEventListener("keydown", keepArrows, { capture: true });
