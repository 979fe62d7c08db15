// From disk a browser does not let a page read its neighbours, so results come without the lines around them.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

// Sphinx's Korean has no words for what a search found.
document.addEventListener("DOMContentLoaded", () => {
  if (document.documentElement.lang !== "ko") return;
  const found = { "Search finished, found one page matching the search query.": ["${resultCount}쪽을 찾았습니다."] };
  Documentation.addTranslations({ messages: found, plural_expr: "0" });
});
