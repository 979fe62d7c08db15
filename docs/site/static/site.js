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
