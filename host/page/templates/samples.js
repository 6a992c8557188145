// The samples are in the page: behind each row of numbers, and as a file. A browser that cannot inflate them (before
// 2023) shows the rows alone, and no button.
const inflates = "DecompressionStream" in window;
const lines = () => {
  const packed = Uint8Array.from(atob(document.getElementById("raw").textContent), (c) => c.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip")));
};
let read;
const own = async (row) => {
  read ??= lines().text().then((text) => text.split("\n"));
  const { model } = row.dataset;
  const point = JSON.stringify(JSON.parse(row.dataset.point));
  const experiment = row.closest("details.experiment").dataset.id;
  const has = [experiment, model].map((name) => JSON.stringify(name));
  const near = (await read).filter((line) => has.every((name) => line.includes(name)));
  const same = (it) => it.experiment === experiment && it.model === model && JSON.stringify(it.point) === point;
  return near.map((line) => JSON.parse(line)).filter(same);
};
// Three significant digits in the unit that suits them all.
const scale = (unit, values) => {
  const prefixes = { ns: ["ns", "µs", "ms", "s"], bytes: ["bytes", "KB", "MB", "GB"], per_s: ["/s", "k/s", "M/s", "G/s"] }[unit];
  const middle = Math.abs(values[values.length >> 1] ?? 0);
  const power = prefixes ? Math.min(3, Math.max(0, Math.floor(Math.log10(middle || 1) / 3))) : 0;
  return [1000 ** power, prefixes ? prefixes[power] : unit];
};
async function samples(row) {
  if (!inflates || row.nextElementSibling?.matches(".samples")) return;
  const below = document.createElement("tr");
  below.className = "samples";
  const cell = below.appendChild(document.createElement("td"));
  cell.colSpan = row.cells.length;
  row.after(below);
  const taken = await own(row);
  const { metric, unit } = row.closest("table").dataset;
  const values = taken.map((it) => it.metrics?.[metric]);
  const [factor, name] = scale(unit, values.filter(Number.isFinite).sort((a, b) => a - b));
  const heading = cell.appendChild(document.createElement("p"));
  heading.textContent = `${taken.length} samples${name ? `, in ${name}` : ""}, in the order taken`;
  const list = cell.appendChild(document.createElement("ol"));
  taken.forEach((it, at) => {
    const item = list.appendChild(document.createElement("li"));
    const value = values[at];
    item.textContent = it.status && it.status !== "ok" ? it.status : `${Number((value / factor).toPrecision(4))}`;
    if (it.started_ns) item.title = new Date(it.started_ns / 1e6).toISOString();
  });
  const command = taken[0]?.command;
  if (command) cell.appendChild(document.createElement("code")).textContent = command.join(" ");
}
const button = document.getElementById("save");
if (inflates) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await lines().blob());
    link.download = "results.jsonl";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
}
