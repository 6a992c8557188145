/**
 * @typedef {{key: string, name: string, f: number, why: number, time: number, self: number,
 *   calls: number, children: Map<string, Frame>}} Frame
 */

/** @returns {Frame} */
function frame(key, name, f = -1, why = -1) {
  return { key, name, f, why, time: 0, self: 0, calls: 0, children: new Map() };
}

/** Kept calls by strand and time, outer before inner: made once. */
function ordered(trace) {
  if (trace.ordered) return trace.ordered;
  const { calls } = trace;
  const order = Int32Array.from(calls.strand.keys());
  for (let s = 0; s < trace.count; s++) {
    order.subarray(trace.callsOf[s], trace.callsOf[s + 1])
      .sort((a, b) => calls.from[a] - calls.from[b] || calls.depth[a] - calls.depth[b]);
  }
  trace.ordered = order;
  return order;
}

/**
 * Adds the calls of some strands up by stack, between two times: what each took itself, so that no
 * time counts twice, and none in which its strand did not run. Short calls are below a frame of
 * their own; what strands wait for is, too, where that is asked for.
 * @param {Trace} trace
 * @param {{strands: Iterable<number>, from: number, to: number, async: boolean, waits: boolean,
 *   depthOf: Int16Array, short: {f: number, calls: number, self: number}[]}} what
 */
function stacks(trace, { strands, from, to, async, waits, depthOf, short }) {
  const root = frame("", "all");
  const { calls, pauses } = trace;
  const order = ordered(trace);
  const child = (node, key, name, f, why) => {
    let found = node.children.get(key);
    if (!found) node.children.set(key, found = frame(key, name, f, why));
    return found;
  };
  for (const s of strands) {
    let base = root;
    if (async) for (const of of makers(trace, s)) {
      const group = trace.groups[of];
      base = child(base, `g${of}`, `${KINDS[group.kind]} ${group.name}`);
    }
    const open = [];
    const around = (begin) => {
      while (open.length && open[open.length - 1].end <= begin) open.pop();
      return open.length ? open[open.length - 1] : { node: base, timed: to };
    };
    let p = trace.pausesOf[s];
    const lastPause = trace.pausesOf[s + 1];
    const pausesUntil = (time, depth) => {
      for (; p < lastPause; p++) {
        const begin = pauses.from[p];
        if (begin > time || (begin === time && depthOf[p] > depth)) return;
        const end = Math.min(begin + pauses.time[p], to);
        const lasts = end - Math.max(begin, from);
        const why = pauses.why[p];
        // A thread that runs a fiber instead does not wait.
        if (lasts <= 0 || (why === 0 && trace.kind(s) === 0)) continue;
        const { node: outer, timed } = around(begin);
        // A thread that is blocked is in its call, as far as that is timed; a strand that is
        // suspended is not.
        const waitsFrom = Math.max(begin, from);
        const called = (until) => why === 0 ? 0
          : trace.calledWithin(s, depthOf[p], begin, waitsFrom, until);
        if (why !== 0) {
          const until = Math.min(end, timed);
          outer.self -= Math.max(until - waitsFrom - called(until), 0);
        }
        if (!waits) continue;
        const name = trace.text(pauses.reason[p]) || WHY_TEXT[why];
        const node = child(outer, `w${why}${name}`, `wait: ${name}`, -1, why);
        node.self += lasts - called(end);
        node.calls++;
      }
    };
    for (let k = trace.callsOf[s]; k < trace.callsOf[s + 1]; k++) {
      const i = order[k];
      const begin = calls.from[i];
      const end = begin + calls.time[i];
      if (end < from || begin > to) continue;
      pausesUntil(begin, calls.depth[i]);
      const f = calls.function[i];
      const node = child(around(begin).node, `f${f}`, trace.function(f), f, -1);
      const part = Math.min(end, to) - Math.max(begin, from);
      node.self += calls.self[i] * (calls.time[i] ? part / calls.time[i] : 1);
      node.calls++;
      // A call that did not end is timed up to its thread's last event, and still waits behind it.
      open.push({ node, end: calls.open[i] ? Infinity : end, timed: end });
    }
    pausesUntil(to, 1e9);
  }
  if (short.length) {
    const below = duration(trace.held.calls.threshold);
    const all = child(root, "short", `calls shorter than ${below}`);
    for (const { f, calls, self } of short) {
      const node = child(all, `f${f}`, trace.function(f), f, -1);
      node.self += self;
      node.calls += calls;
    }
  }
  sum(root);
  return root;
}

/** Groups of those that made a strand, outermost first, and its own. */
function makers(trace, strand) {
  const chain = [];
  for (let s = strand; s >= 0 && chain.length < 24; s = trace.strands.parent[s] - 1) {
    const group = trace.strands.group[s];
    // Each of a kind that makes its like is one frame.
    if (chain[chain.length - 1] !== group) chain.push(group);
  }
  return chain.reverse();
}

/** Times: a frame's own, and those of what is in it. */
function sum(node) {
  node.self = Math.max(node.self, 0);
  node.time = node.self;
  for (const child of node.children.values()) {
    sum(child);
    node.time += child.time;
  }
}

/** Draws a tree of stacks. */
class Flame {
  /** @param {Trace} trace @param {Timeline} timeline */
  constructor(trace, timeline) {
    this.trace = trace;
    this.timeline = timeline;
    this.async = false;
    this.waits = false;
    this.icicle = true;
    /** @type {string[]} */
    this.path = [];
  }

  /** @param {HTMLElement} body */
  show(body, scope, { short, says }, again, choose) {
    const { trace, timeline } = this;
    const root = stacks(trace, { ...scope, short, async: this.async, waits: this.waits,
      depthOf: timeline.depthOf });
    const tick = (name, label) => {
      const box = el("input", { type: "checkbox", id: `flame-${name}` });
      /** @type {any} */ (box).checked = this[name];
      box.addEventListener("change", () => {
        this[name] = /** @type {any} */ (box).checked;
        this.path = [];
        again();
      });
      return el("label", {}, box, ` ${label}`);
    };
    const path = [root];
    for (const key of this.path) {
      const next = path[path.length - 1].children.get(key);
      if (next) path.push(next);
    }
    const top = path[path.length - 1];
    const crumbs = el("span", { class: "crumbs" });
    path.forEach((node, depth) => {
      if (path.length > 1) crumbs.append(el("button", { class: "link", onclick: () => {
        this.path = this.path.slice(0, depth);
        again();
      } }, node.name), depth + 1 < path.length ? " › " : "");
    });
    const bar = el("div", { class: "bar" }, tick("async", "by maker (asynchronous stack)"),
      tick("waits", "with waits"), tick("icicle", "root on top"), crumbs);
    const all = el("div", { class: `flame${this.icicle ? "" : " up"}`, role: "tree" });
    const rows = [];
    const total = Math.max(top.time, 1e-9);
    const place = (node, left, depth) => {
      const share = node.time / total;
      if (share < 0.0008 || depth > 80) return;
      const hue = node.f >= 0 ? timeline.paint.hueOf[node.f] : -1;
      const colour = node.why >= 0 ? timeline.paint.whyTints[node.why]
        : hue >= 0 ? timeline.paint.tints[hue] : timeline.paint.panel;
      const percent = `${(100 * node.time / Math.max(root.time, 1e-9)).toFixed(1)} %`;
      const says = `${node.name}: ${duration(node.time)} (${percent}), self ${
        duration(node.self)}, ${plural(node.calls, node.why >= 0 ? "wait" : "call")}`;
      const tail = node.f < 0 && node.why < 0 ? " group" : "";
      const item = el("div", { class: `frame${tail}`, role: "treeitem", title: says, "aria-label": says,
        tabindex: "-1" }, node.name);
      item.style.cssText = `left:${100 * left}%;width:calc(${100 * share}% - 1px);background:${
        colour}`;
      item.addEventListener("click", () => choose(node, [...this.path, ...keys(node)]));
      (rows[depth] = rows[depth] || el("div", { class: "level" })).append(item);
      let x = left;
      const children = [...node.children.values()].sort((a, b) => b.time - a.time);
      for (const next of children) {
        above.set(next, node);
        place(next, x, depth + 1);
        x += next.time / total;
      }
    };
    /** @type {Map<Frame, Frame>} */
    const above = new Map();
    const keys = (node) => {
      const found = [];
      for (let n = node; n && n !== top; n = above.get(n)) found.unshift(n.key);
      return found;
    };
    place(top, 0, 0);
    all.append(...(this.icicle ? rows : rows.reverse()).filter(Boolean));
    body.replaceChildren(bar, root.time > 0 ? all : el("p", { class: "quiet" }, "No calls here."),
      el("p", { class: "quiet" }, says));
  }
}
