// The form answers as `heddle choose` does: from the nearest measured places, and never beyond them.
const form = document.querySelector("#choose form");
const chosen = (work, { places, most, as_near, farthest }) => {
  const apart = (a, b) => Math.max(a / b, b / a);
  const nearest = (those, factor) => those.map((it) => ({ ...it, factor: factor(it) })).sort((a, b) => a.factor - b.factor);
  const alike = places.filter((it) => it.waits_on === work.waits_on);
  const times = alike.filter((it) => it.work_ns !== null);
  const sizes = alike.filter((it) => it.work_ns === null && it.bytes);
  const outside = (respect, those) => {
    const sorted = [...those].sort((a, b) => a[respect] - b[respect]);
    if (!sorted.length) return [];
    const [least, last] = [sorted[0], sorted[sorted.length - 1]];
    return work[respect] < least[respect] || work[respect] > last[respect] ? [{ respect, least, last }] : [];
  };
  const memory = outside("alive", sizes).length ? undefined : nearest(sizes, (it) => apart(it.alive, work.alive))[0];
  const beyond = [...outside("alive", times), ...outside("work_ns", times)];
  if (beyond.length) return { time: [], kinds: [], memory, beyond };
  const all = nearest(times, (it) => apart(it.alive, work.alive) * apart(it.work_ns, work.work_ns));
  const time = all.filter((it) => it.factor <= all[0].factor * as_near).slice(0, most);
  const near = time.length > 0 && time[0].factor <= farthest;
  const kinds = near ? time[0].kinds.filter((kind) => time.every((it) => it.kinds.includes(kind))) : [];
  return { time, kinds, memory, beyond, far: time.length > 0 && !near };
};
if (form) {
  const data = JSON.parse(document.getElementById("alike").textContent);
  const output = document.querySelector("#choose output");
  form.hidden = false;
  const element = (name, text, more = {}) => Object.assign(document.createElement(name), { textContent: text }, more);
  const choice = ({ time, kinds, beyond, far }) => {
    const more = "heddle compare --full measures more.";
    const what = { alive: "alive", work_ns: "between two waits" };
    if (beyond.length) {
      const parts = beyond.map(({ respect, least, last }) => {
        const said = (it) => it.said[respect === "alive" ? 0 : 1];
        const ends = [...new Set([said(least), said(last)])];
        return `${ends.join(" to ")} ${what[respect]}`;
      });
      return ["Nothing", `: nothing like it was measured, but ${parts.join(", and ")}. ${more}`];
    }
    if (far) return ["Nothing", `: the nearest that was measured is ${time[0].factor.toPrecision(3)}× away. ${more}`];
    if (!time.length) return ["Nothing", ": no such work of this report has a time between two waits."];
    const cells = time.length > 1 ? `all of the ${time.length} nearest cells` : "the nearest cell";
    if (!kinds.length) return ["Nothing surely", `: no kind of model is at the front in ${cells}.`];
    const last = kinds[kinds.length - 1];
    if (kinds.length === 1) return [last, `: at the front in ${cells}.`];
    return [`${kinds.slice(0, -1).join(", ")} or ${last}`, `: these cannot be told apart in ${cells}.`];
  };
  const place = (it, title) => {
    const item = element("li", title);
    item.append(element("a", it.name, { href: "#" + it.anchor }), element("small", it.ahead), element("small", it.behind));
    return item;
  };
  const answer = () => {
    output.replaceChildren();
    const [alive, work] = [form.alive, form.work].map((it) => it.valueAsNumber);
    if (!(alive > 0 && work > 0)) return;
    const found = chosen({ waits_on: form.waits_on.value, alive, work_ns: 1000 * work }, data);
    const [head, rest] = choice(found);
    const line = element("p", "");
    line.append(element("b", head), rest);
    const list = document.createElement("ul");
    list.append(...found.time.map((it) => place(it, "")), ...(found.memory ? [place(found.memory, "Memory: ")] : []));
    output.append(line, list);
  };
  form.addEventListener("input", answer);
  form.addEventListener("submit", (event) => event.preventDefault());
  // What a browser has kept of an earlier visit is answered, too.
  addEventListener("pageshow", answer);
}
