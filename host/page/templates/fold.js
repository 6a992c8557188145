// What is folded stands in a <noscript>: text until it is opened, so that a large page is there at once. Without scripts
// a browser reads it as a part of the page.
const fill = (fold) => {
  const text = fold.querySelector(":scope > noscript");
  if (!text) return;
  text.outerHTML = text.textContent;
};
const open = (fold) => {
  fill(fold);
  fold.open = true;
};
// What scrolls can be reached by keys; what does not is no stop.
const stops = (part) => {
  for (const it of part.querySelectorAll(".scroll")) it.tabIndex = it.scrollWidth > it.clientWidth ? 0 : -1;
};
stops(document);
addEventListener("resize", () => stops(document));
document.addEventListener("toggle", ({ target }) => {
  if (!target.open) return;
  fill(target);
  stops(target);
}, true);

// An anchor in a fold begins with the fold's own, then `:` or `~`.
const find = (id) => {
  const fold = document.getElementById(id.split(/[:~]/)[0]);
  if (fold && fold.id !== id) fill(fold);
  return document.getElementById(id);
};
const reveal = (hash) => {
  const it = find(decodeURIComponent(hash.slice(1)));
  if (!it) return;
  for (let fold = it.closest("details"); fold; fold = fold.parentElement.closest("details")) open(fold);
  if (it.matches("li") && it.firstElementChild.matches("details")) open(it.firstElementChild);
  if (it.dataset.point) samples(it);
  if (it.tabIndex < 0 && !it.matches("details")) it.tabIndex = -1;
  it.scrollIntoView({ block: it.dataset.point ? "center" : "start" });
  (it.matches("details") ? it.firstElementChild : it).focus({ preventScroll: true });
};
document.addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#"]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const shown = link.dataset.show && document.querySelector(`#claims input[value="${link.dataset.show}"]`);
  if (shown) shown.checked = true;
  event.preventDefault();
  if (location.hash !== link.hash) history.pushState(null, "", link.hash);
  reveal(link.hash);
});
addEventListener("popstate", () => location.hash && reveal(location.hash));
if (location.hash) addEventListener("load", () => reveal(location.hash));

const all = document.getElementById("all");
if (all) {
  all.hidden = false;
  all.addEventListener("click", () => document.querySelectorAll("details.experiment").forEach(open));
}
