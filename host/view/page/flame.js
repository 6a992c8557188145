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
 * Adds the calls of some strands up by stack, between two times. Time in which a strand does not
 * run is a frame of its own, or nobody's.
 * @param {Trace} trace
 * @param {{strands: Iterable<number>, from: number, to: number, async: boolean, waits: boolean,
 *   depthOf: Int16Array}} what
 */
function stacks(trace, { strands, from, to, async, waits, depthOf }) {
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
    const leave = (until) => {
      while (open.length && open[open.length - 1].end <= until) {
        const { node, parent, time, own } = open.pop();
        const self = Math.max(own, 0);
        node.self += self;
        if (parent) parent.own -= time;
      }
    };
    const enter = (begin, end, key, name, f, why) => {
      leave(begin);
      const a = Math.max(begin, from);
      const b = Math.min(end, to);
      const parent = open[open.length - 1];
      const node = child(parent ? parent.node : base, key, name, f, why);
      const time = Math.max(b - a, 0);
      node.time += time;
      node.calls++;
      open.push({ node, parent, end, time, own: time });
      if (why >= 0 && !waits) for (const around of open.slice(0, -1)) around.node.time -= time;
    };
    let p = trace.pausesOf[s];
    const lastPause = trace.pausesOf[s + 1];
    const pausesUntil = (time, depth) => {
      for (; p < lastPause; p++) {
        const begin = pauses.from[p];
        if (begin > time || (begin === time && depthOf[p] > depth)) return;
        const end = begin + pauses.time[p];
        if (end < from || begin > to) continue;
        const why = pauses.why[p];
        const name = trace.text(pauses.reason[p]) || WHY_TEXT[why];
        enter(begin, end, `w${why}${name}`, `⏸ ${name}`, -1, why);
      }
    };
    for (let k = trace.callsOf[s]; k < trace.callsOf[s + 1]; k++) {
      const i = order[k];
      const begin = calls.from[i];
      const end = begin + calls.time[i];
      if (end < from || begin > to) continue;
      pausesUntil(begin, calls.depth[i]);
      enter(begin, end, `f${calls.function[i]}`, trace.function(calls.function[i]),
        calls.function[i], -1);
    }
    pausesUntil(to, 1e9);
    leave(Infinity);
  }
  if (!waits) drop(root);
  sum(root, async);
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

/** Takes waits out. */
function drop(node) {
  for (const [key, child] of node.children) {
    if (child.why >= 0) node.children.delete(key);
    else drop(child);
  }
}

/** Times of frames that are no calls: those of what is in them. */
function sum(node) {
  let time = 0;
  for (const child of node.children.values()) {
    sum(child);
    time += child.time;
  }
  if (node.f < 0 && node.why < 0) node.time = time;
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
  show(body, scope, again, choose) {
    const { trace, timeline } = this;
    const root = stacks(trace, { ...scope, async: this.async, waits: this.waits,
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
      const item = el("div", { class: "frame", role: "treeitem", title: says, "aria-label": says,
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
    const held = trace.held.calls;
    const note = held.count
      ? `${plural(held.count, "call")} shorter than ${duration(held.threshold)} ${
        held.count === 1 ? "is" : "are"} part of the calls around ${
        held.count === 1 ? "it" : "them"} here.` : "";
    body.replaceChildren(bar, root.time > 0 ? all : el("p", { class: "quiet" }, "No calls here."),
      el("p", { class: "quiet" }, note));
  }
}
