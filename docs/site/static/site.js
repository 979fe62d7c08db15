// From disk a browser does not let a page read its neighbours, so results come without the lines around them.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

// The list of pages begins where the reader is.
document.addEventListener("DOMContentLoaded", () => {
  const page = document.querySelector(".sidebar-tree .current-page");
  const list = page?.closest(".sidebar-scroll");
  if (list) list.scrollTop += page.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 3;
});

// Sphinx's Korean has no words for what a search found.
document.addEventListener("DOMContentLoaded", () => {
  if (document.documentElement.lang !== "ko") return;
  const found = { "Search finished, found one page matching the search query.": ["${resultCount}쪽을 찾았습니다."] };
  Documentation.addTranslations({ messages: found, plural_expr: "0" });
});

// An option such as --json, or a name such as softmax-axis, is not parted at its hyphens.
document.addEventListener("DOMContentLoaded", () => {
  for (const word of document.querySelectorAll("article code .pre")) {
    const longest = word.closest("td") ? 13 : 24;
    if (word.textContent.includes("-") && word.textContent.length <= longest) word.classList.add("whole");
  }
  for (const block of document.querySelectorAll("article .highlight-sh pre")) {
    const texts = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
    for (const text of [...(function* () { while (texts.nextNode()) yield texts.currentNode; })()]) {
      const parts = text.data.split(/(?<!\S)(-{1,2}[a-z][a-z-]*)/);
      const whole = (part) => Object.assign(document.createElement("span"), { className: "whole", textContent: part });
      if (parts.length > 1) text.replaceWith(...parts.map((part, at) => (at % 2 ? whole(part) : part)));
    }
  }
});
