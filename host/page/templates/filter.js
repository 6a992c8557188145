// The filter looks into what is folded, too.
const filter = document.getElementById("filter");
filter.hidden = false;
const texts = new Map();
const text = (it) => {
  if (!texts.has(it)) {
    const inside = [...it.querySelectorAll("noscript")].map((fold) => fold.textContent.replace(/<[^>]*>/g, " "));
    texts.set(it, (it.textContent + " " + inside.join(" ")).toLowerCase());
  }
  return texts.get(it);
};
const show = () => {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (it) => words.every((word) => text(it).includes(word));
  let found = 0;
  const shown = new Set();
  const folds = document.querySelectorAll("details.experiment");
  for (const it of folds) {
    it.hidden = !has(it);
    if (!it.hidden) shown.add("#" + it.id);
  }
  found = shown.size;
  let statements = 0;
  for (const it of document.querySelectorAll(".statements > li")) {
    it.hidden = !has(it);
    statements += !it.hidden;
  }
  for (const link of document.querySelectorAll('#contents a[href^="#e-"]')) link.parentElement.hidden = !shown.has(link.hash);
  for (const chapter of document.querySelectorAll("#contents .chapter")) {
    chapter.parentElement.hidden = !chapter.querySelector("li:not([hidden])");
    chapter.open = words.length > 0;
  }
  for (const head of document.querySelectorAll("#winners h3")) {
    let it = head.nextElementSibling;
    while (it && it.matches("details[hidden]")) it = it.nextElementSibling;
    head.hidden = !it || !it.matches("details");
  }
  document.getElementById("found").textContent = words.length
    ? `${found} of ${folds.length} experiments, ${statements} statement${statements === 1 ? "" : "s"}` : "";
};
filter.addEventListener("input", show);
