/** Rows of a table that are shown at once. */
const SHOWN = 300;

/**
 * A table that sorts by a click on a column's name.
 * @param {{name: string, label: string, right?: boolean, value: (row: any) => any,
 *   text?: (row: any) => any}[]} columns
 */
function sortable(columns, rows, { sort, caption, click, state }) {
  state.sort = state.sort || sort;
  state.shown = SHOWN;
  const box = el("div", { class: "scroll" });
  const draw = () => {
    const by = columns.find((column) => column.name === state.sort) || columns[0];
    const sign = by.right ? -1 : 1;
    const sorted = rows.slice().sort((a, b) => {
      const [x, y] = [by.value(a), by.value(b)];
      return sign * (x < y ? -1 : x > y ? 1 : 0);
    });
    const head = el("tr");
    for (const column of columns) {
      const sorts = column === by;
      head.append(el("th", { class: column.right ? "right" : "", scope: "col",
        "aria-sort": sorts ? (by.right ? "descending" : "ascending") : undefined },
      el("button", { class: "sort", onclick: () => { state.sort = column.name; draw(); } },
        column.label)));
    }
    const body = el("tbody");
    for (const row of sorted.slice(0, state.shown)) {
      const line = el("tr", { tabindex: "0" });
      for (const column of columns) {
        const text = (column.text || column.value)(row);
        line.append(el("td", { class: column.right ? "right" : "" },
          text instanceof Node ? text : String(text)));
      }
      if (click) {
        line.addEventListener("click", (event) => {
          if (!(/** @type {any} */ (event.target).closest("button"))) click(row);
        });
        line.addEventListener("keydown", (event) => { if (event.key === "Enter") click(row); });
      }
      body.append(line);
    }
    const parts = [el("table", {}, el("caption", {}, caption), el("thead", {}, head), body)];
    if (sorted.length > state.shown) {
      parts.push(el("button", { onclick: () => { state.shown += 10 * SHOWN; draw(); } },
        `${counted(sorted.length - state.shown)} more`));
    }
    box.replaceChildren(...parts);
  };
  draw();
  return box;
}

/** What is below the timeline. */
class Tables {
  /** @param {Trace} trace @param {Timeline} timeline @param {any} app */
  constructor(trace, timeline, app) {
    this.trace = trace;
    this.timeline = timeline;
    this.app = app;
    this.flame = new Flame(trace, timeline);
    this.tab = "functions";
    this.states = { functions: {}, strands: {}, waits: {} };
    for (const tab of /** @type {any} */ (document.querySelectorAll("[role=tab]"))) {
      tab.addEventListener("click", () => this.open(tab.dataset.tab));
      tab.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const all = [...document.querySelectorAll("[role=tab]")];
        const next = /** @type {any} */ (all[(all.indexOf(tab) + step + all.length) % all.length]);
        this.open(next.dataset.tab);
        next.focus();
        event.stopPropagation();
      });
    }
  }

  open(tab) {
    this.tab = tab;
    this.show();
  }

  /** The strands and the time that are selected: all, if nothing is. */
  scope() {
    const { trace, timeline } = this;
    const { selected, range } = timeline;
    const [from, to] = range || [0, trace.end];
    const everything = !range && !(selected && ["strand", "group"].includes(selected.type));
    let strands = null;
    let name = "whole trace";
    if (selected && selected.type === "strand") {
      strands = [selected.i];
      name = trace.label(selected.i);
    } else if (selected && selected.type === "group") {
      const row = timeline.rows.rows[selected.i];
      if (row && row.group) {
        strands = row.group.members;
        name = `${plural(row.group.strands, row.group.kind)} ${row.group.label}`;
      }
    }
    if (strands) strands = [...new Set(strands.flatMap((s) => trace.rowsOf(s)))];
    if (range) name += `, ${duration(from)} to ${duration(to)}`;
    return { from, to, strands: strands || Array.from({ length: trace.count }, (_, s) => s), name,
      everything };
  }

  show() {
    const body = /** @type {HTMLElement} */ (byId("body"));
    for (const tab of /** @type {any} */ (document.querySelectorAll("[role=tab]"))) {
      const chosen = tab.dataset.tab === this.tab;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
    }
    const scope = this.scope();
    byId("scope").textContent = this.tab === "details" ? "" : scope.name;
    if (this.tab === "details") body.replaceChildren(...this.details());
    else if (this.tab === "functions") body.replaceChildren(...this.functions(scope));
    else if (this.tab === "strands") body.replaceChildren(...this.strands(scope));
    else if (this.tab === "waits") body.replaceChildren(...this.waits(scope));
    else {
      /** @type {{f: number, calls: number, self: number}[]} */
      const short = [];
      const says = this.shortCalls(scope, (f, calls, total, self) => {
        short.push({ f, calls, self });
      });
      this.flame.show(body, scope, { short, says }, () => this.show(), (node, path) => {
        this.flame.path = path;
        if (node.f >= 0) this.app.match((f) => f === node.f);
        this.show();
      });
    }
  }

  functions(scope) {
    const { trace } = this;
    const all = trace.functions;
    let rows = [];
    let says;
    if (scope.everything) {
      for (let f = 0; f < all.rows; f++) {
        if (all.calls[f]) rows.push({ f, calls: all.calls[f], total: all.total[f],
          self: Math.max(all.self[f] - all.waited[f], 0), waited: all.waited[f],
          cut: all.cut[f], cutTime: all.cutTime[f],
          longest: all.calls[f] > all.cut[f] ? all.longest[f] : -1 });
      }
      says = "All calls, short ones included.";
    } else {
      const sums = new Map();
      const add = (f, calls, total, self, cut, cutTime, longest) => {
        const row = sums.get(f) || { f, calls: 0, total: 0, self: 0, waited: 0, cut: 0, cutTime: 0,
          longest: -1 };
        row.calls += calls;
        row.total += total;
        row.self += self;
        row.cut += cut;
        row.cutTime += cutTime;
        row.longest = Math.max(row.longest, longest);
        sums.set(f, row);
      };
      const { calls } = trace;
      for (const s of scope.strands) {
        for (let i = trace.callsOf[s]; i < trace.callsOf[s + 1]; i++) {
          const begin = Math.max(calls.from[i], scope.from);
          const end = Math.min(calls.from[i] + calls.time[i], scope.to);
          if (end < begin) continue;
          // Of a call that goes on outside, its share.
          const share = calls.time[i] ? (end - begin) / calls.time[i] : 1;
          const lasted = end - begin;
          if (calls.cut[i]) add(calls.function[i], 1, lasted, calls.self[i] * share, 1, lasted, -1);
          else add(calls.function[i], 1, lasted, calls.self[i] * share, 0, 0, calls.time[i]);
        }
      }
      const short = this.shortCalls(scope, add);
      this.waitsWithin(scope, (f, time) => {
        const row = sums.get(f);
        if (!row) return;
        row.waited += time;
        row.self = Math.max(row.self - time, 0);
      });
      rows = [...sums.values()];
      says = short;
    }
    // What was cut off has no duration of its own, so it has no part in these, as in a report. Of
    // calls that are summed up, the longest is not known.
    const mean = ({ calls, cut, total, cutTime }) =>
      calls > cut ? Math.floor((total - cutTime) / (calls - cut)) : -1;
    const shown = (time) => time < 0 ? "-" : duration(time);
    return [sortable([
      { name: "function", label: "Function", value: (row) => trace.function(row.f) },
      { name: "calls", label: "Calls", right: true, value: (row) => row.calls,
        text: (row) => counted(row.calls) },
      { name: "self", label: "Self", right: true, value: (row) => row.self,
        text: (row) => duration(row.self) },
      { name: "waited", label: "Waited", right: true, value: (row) => row.waited,
        text: (row) => row.waited ? duration(row.waited) : "" },
      { name: "total", label: "Total", right: true, value: (row) => row.total,
        text: (row) => duration(row.total) },
      { name: "mean", label: "Mean", right: true, value: mean,
        text: (row) => shown(mean(row)) },
      { name: "longest", label: "Longest", right: true, value: (row) => row.longest,
        text: (row) => shown(row.longest) },
      { name: "module", label: "Module", value: (row) => trace.module(row.f) },
    ], rows, { sort: "self", caption: says, state: this.states.functions,
      click: (row) => this.app.longestCall(row.f, scope) })];
  }

  /** Gives each wait of a thread, and the innermost call's function, as far as both are kept. */
  waitsWithin(scope, take) {
    const { trace, timeline } = this;
    const { pauses } = trace;
    for (const s of scope.strands) {
      for (let i = trace.pausesOf[s]; i < trace.pausesOf[s + 1]; i++) {
        if (pauses.why[i] === 0) continue;
        const begin = Math.max(pauses.from[i], scope.from);
        const end = Math.min(pauses.from[i] + pauses.time[i], scope.to);
        if (end <= begin) continue;
        const call = timeline.callOf(s, timeline.depthOf[i] - 1, pauses.from[i], 0);
        if (call < 0) continue;
        // A call that did not end is timed up to its thread's last event; its wait is drawn on.
        const lasts = Math.min(end, trace.calls.from[call] + trace.calls.time[call]) - begin;
        const called = trace.calledWithin(s, timeline.depthOf[i], pauses.from[i], begin,
          begin + lasts);
        if (lasts > called) take(trace.calls.function[call], lasts - called);
      }
    }
  }

  /** Adds short calls; says which. */
  shortCalls(scope, add) {
    const { trace } = this;
    const cells = trace.cells.calls;
    const { threshold, width, count } = trace.held.calls;
    if (!count) return "All calls, those that go on outside with the part inside.";
    const rows = new Set();
    let shared = false;
    for (const s of scope.strands) {
      rows.add(s);
      const group = trace.count + trace.strands.group[s];
      if (trace.cellsOf.calls[group] < trace.cellsOf.calls[group + 1]) {
        // A group's sums are those of all its strands: they count where all are selected.
        if (scope.strands.length > 1) rows.add(group);
        else shared = true;
      }
    }
    for (const row of rows) {
      for (let i = trace.cellsOf.calls[row]; i < trace.cellsOf.calls[row + 1]; i++) {
        const at = cells.column[i] * width;
        if (at + width <= scope.from || at >= scope.to) continue;
        add(cells.what[i], cells.count[i], cells.time[i], cells.self[i], cells.cut[i],
          cells.cutTime[i], -1);
      }
    }
    if (!shared) return `With ${trace.summed("calls", "call")}, by columns of ${duration(width)}.`;
    return `Calls of at least ${duration(threshold)}: shorter ones are summed up with those of the ` +
      "other strands of this group.";
  }

  strands(scope) {
    const { trace } = this;
    const t = trace.strands;
    const rows = scope.strands.filter((s) => !trace.isFurther(s)).map((s) => ({ s }));
    const maker = (s) => t.parent[s] ? trace.label(t.parent[s] - 1)
      : t.parentNumber[s] ? `strand #${t.parentNumber[s]}` : "";
    const more = trace.groups.reduce((sum, g) => sum + g.strands - g.listed, 0);
    const says = more
      ? `${plural(more, "strand")} more are in their groups' sums: listed are those that were ` +
        "suspended or ran longest." : "";
    return [sortable([
      { name: "strand", label: "Strand", value: (row) => trace.label(row.s) },
      { name: "maker", label: "Made by", value: (row) => maker(row.s) },
      { name: "born", label: "Born", right: true, value: (row) => -trace.born(row.s),
        text: (row) => duration(trace.born(row.s)) },
      { name: "life", label: "Lived", right: true,
        value: (row) => trace.died(row.s) - trace.born(row.s),
        text: (row) => duration(trace.died(row.s) - trace.born(row.s))
          + (trace.isAlive(row.s) ? " …" : "") },
      { name: "running", label: "Elapsed", right: true, value: (row) => t.running[row.s],
        text: (row) => duration(t.running[row.s]) },
      { name: "waited", label: "Waited", right: true, value: (row) => this.waited(row.s),
        text: (row) => duration(this.waited(row.s)) },
      { name: "longest", label: "Longest wait", right: true,
        value: (row) => this.longestWait(row.s).time,
        text: (row) => this.waitText(this.longestWait(row.s).i) },
      { name: "activations", label: "Activations", right: true,
        value: (row) => t.activations[row.s], text: (row) => counted(t.activations[row.s]) },
      { name: "calls", label: "Calls", right: true, value: (row) => t.calls[row.s],
        text: (row) => counted(t.calls[row.s]) },
    ], rows, { sort: "longest", caption: says, state: this.states.strands,
      click: (row) => this.app.select({ type: "strand", i: row.s }, true) })];
  }

  /** Whether a thread's pause is a wait: not where it runs a fiber instead. */
  isWait(i) {
    const { pauses } = this.trace;
    return pauses.why[i] !== 0 || this.trace.kind(pauses.strand[i]) !== 0;
  }

  /** All time that a strand did not run for a reason that is known: its waits, as far as they are
      kept, with what had not ended; and the suspensions that are summed up. */
  waited(s) {
    const { trace } = this;
    const { pauses } = trace;
    let sum = 0;
    trace.eachPause(s, (i) => {
      if (this.isWait(i)) sum += pauses.time[i];
    });
    return sum + this.shortSuspensions(s);
  }

  /** The time of a fiber's or coroutine's suspensions that are summed up. */
  shortSuspensions(s) {
    const { trace } = this;
    const { pauses } = trace;
    if (trace.kind(s) === 0 || !trace.held.pauses.count) return 0;
    let kept = 0;
    trace.eachPause(s, (i) => {
      if (pauses.why[i] === 0 && !pauses.open[i]) kept += pauses.time[i];
    });
    return Math.max(trace.strands.suspended[s] - kept, 0);
  }

  /** What is said of a call or wait that had not ended: its strand may have, with its process. */
  notEnded(s) {
    const whole = this.trace.died(s) >= this.trace.end;
    return whole ? ", not ended when the trace did" : ", not ended when its strand did";
  }

  longestWait(s) {
    const { trace } = this;
    let longest = { i: -1, time: -1 };
    trace.eachPause(s, (i) => {
      if (this.isWait(i) && trace.pauses.time[i] > longest.time) {
        longest = { i, time: trace.pauses.time[i] };
      }
    });
    return longest;
  }

  waitText(i) {
    if (i < 0) return "";
    const { pauses } = this.trace;
    return `${this.trace.text(pauses.reason[i]) || WHY[pauses.why[i]]} ${duration(pauses.time[i])}`;
  }

  waits(scope) {
    const { trace } = this;
    const { pauses } = trace;
    const sums = new Map();
    for (const s of scope.strands) {
      for (let i = trace.pausesOf[s]; i < trace.pausesOf[s + 1]; i++) {
        const begin = Math.max(pauses.from[i], scope.from);
        const end = Math.min(pauses.from[i] + pauses.time[i], scope.to);
        if (end < begin || !this.isWait(i)) continue;
        const key = `${pauses.why[i]}/${pauses.reason[i]}/${pauses.place[i]}/${trace.strands.group[s]}`;
        const row = sums.get(key) || { why: pauses.why[i], reason: pauses.reason[i],
          place: pauses.place[i], group: trace.group(s), count: 0, time: 0, longest: i };
        row.count++;
        row.time += end - begin;
        if (pauses.time[i] > pauses.time[row.longest]) row.longest = i;
        sums.set(key, row);
      }
    }
    const summed = trace.summed("pauses", "wait");
    const says = summed ? `Without ${summed}: ${duration(trace.held.pauses.time)} in all.` : "";
    return [sortable([
      { name: "why", label: "Why", value: (row) => row.why, text: (row) => this.why(row.why) },
      { name: "for", label: "For", value: (row) => trace.text(row.reason) },
      { name: "place", label: "At", value: (row) => trace.text(row.place) },
      { name: "who", label: "Who", value: (row) => trace.groupLabel(row.group) },
      { name: "count", label: "Waits", right: true, value: (row) => row.count,
        text: (row) => counted(row.count) },
      { name: "total", label: "Total", right: true, value: (row) => row.time,
        text: (row) => duration(row.time) },
      { name: "longest", label: "Longest", right: true, value: (row) => pauses.time[row.longest],
        text: (row) => duration(pauses.time[row.longest]) },
    ], [...sums.values()], { sort: "total", caption: says, state: this.states.waits,
      click: (row) => this.app.select({ type: "pause", i: row.longest }, true) })];
  }

  why(why) {
    return el("span", { class: "why" }, this.timeline.paint.swatch(why), ` ${WHY[why]}`);
  }

  /** A button that leads to a strand, a thread or what it is. */
  link(place) {
    const { trace } = this;
    if (!place || place > trace.count) return el("span", {}, trace.placeLabel(place));
    return el("button", { class: "link",
      onclick: () => this.app.select({ type: "strand", i: place - 1 }, true) },
    trace.label(place - 1));
  }

  facts(pairs) {
    const list = el("dl", { class: "facts" });
    for (const [name, value] of pairs) {
      if (value === undefined || value === "") continue;
      list.append(el("dt", {}, name), el("dd", {}, value));
    }
    return list;
  }

  /** Everything about what is selected. @returns {any[]} */
  details() {
    const { trace, timeline } = this;
    const { selected } = timeline;
    if (!selected) {
      return [el("p", { class: "quiet" },
        "Nothing is selected: click a call, a wait or a strand, or press j and k.")];
    }
    const { i } = selected;
    if (selected.type === "call") return this.call(i);
    if (selected.type === "pause") return this.pauseDetails(i);
    if (selected.type === "run") {
      const { runs } = trace;
      return [el("h2", {}, `${trace.label(runs.strand[i])} runs`), this.facts([
        ["Strand", this.link(runs.strand[i] + 1)],
        ["On", this.link(runs.thread[i])],
        ["From", duration(runs.from[i])],
        ["For", duration(runs.time[i])],
        [this.began(i), this.link(runs.by[i])],
      ])];
    }
    if (selected.type === "group") {
      const row = timeline.rows.rows[i];
      if (!row || !row.group) return [];
      const group = trace.groups[row.group.index];
      return [el("h2", {}, row.group.label), this.facts([
        ["Strands", plural(row.group.strands, row.group.kind)],
        ["Listed", counted(row.group.listed)],
        ["Elapsed", group && duration(group.running)],
        ["Suspended", group && duration(group.suspended)],
        ["Calls", group && counted(group.calls)],
        ["Made by", row.group.maker ? this.link(row.group.maker) : ""],
      ])];
    }
    return this.strandDetails(i);
  }

  call(i) {
    const { trace } = this;
    const { calls } = trace;
    const s = calls.strand[i];
    const site = trace.text(calls.site[i]);
    let around = -1;
    for (let lane = trace.lanesOf[s]; lane < trace.lanesOf[s + 1]; lane++) {
      const first = trace.laneFrom[lane];
      if (calls.depth[first] === calls.depth[i] - 1) around = trace.callAt(lane, calls.from[i]);
    }
    return [el("h2", {}, trace.function(calls.function[i])), this.facts([
      ["Took", duration(calls.time[i]) + (calls.open[i] ? this.notEnded(s) : "")],
      ["Self", duration(calls.self[i])],
      ["From", duration(calls.from[i])],
      ["Strand", this.link(s + 1)],
      ["Thread", calls.thread[i] - 1 === s ? "" : this.link(calls.thread[i])],
      ["Called at", site],
      ["Within", around < 0 ? "" : el("button", { class: "link",
        onclick: () => this.app.select({ type: "call", i: around }, true) },
      trace.function(calls.function[around]))],
      ["Module", trace.module(calls.function[i])],
      ["Made by", this.maker(s)],
    ])];
  }

  maker(s) {
    const { trace } = this;
    const { parent, parentNumber } = trace.strands;
    if (parent[s]) return this.link(parent[s]);
    return parentNumber[s] ? `strand #${parentNumber[s]}` : "";
  }

  /** How a fiber's or coroutine's pause ended, before who did that. */
  ended(i) {
    const { pauses } = this.trace;
    if (pauses.destroyed[i]) return "Destroyed by";
    return `Resumed ${this.trace.byOrAfter(pauses.strand[i], pauses.by[i])}`;
  }

  /** How a run began, likewise: a destruction is one, too. */
  began(run) {
    const { trace } = this;
    const { pauses, runs } = trace;
    const s = runs.strand[run];
    for (let i = trace.pausesOf[s]; i < trace.pausesOf[s + 1]; i++) {
      if (pauses.destroyed[i] && pauses.from[i] + pauses.time[i] === runs.from[run]) {
        return this.ended(i);
      }
    }
    return `Resumed ${trace.byOrAfter(s, runs.by[run])}`;
  }

  pauseDetails(i) {
    const { trace } = this;
    const { pauses } = trace;
    const why = pauses.why[i];
    return [el("h2", {}, this.why(why), ` ${trace.text(pauses.reason[i])}`), this.facts([
      ["Strand", this.link(pauses.strand[i] + 1)],
      ["Why", WHY_TEXT[why]],
      ["For", trace.text(pauses.reason[i])],
      ["How long", duration(pauses.time[i])
        + (pauses.open[i] ? this.notEnded(pauses.strand[i]) : "")],
      ["At", trace.text(pauses.place[i])],
      ["From", duration(pauses.from[i])],
      ["Held by", pauses.holder[i] ? this.link(pauses.holder[i]) : ""],
      [this.ended(i), pauses.by[i] ? this.link(pauses.by[i]) : ""],
      [pauses.destroyed[i] ? "On" : "Goes on on",
        pauses.open[i] || pauses.thread[i] - 1 === pauses.strand[i] ? ""
          : this.link(pauses.thread[i])],
      ["Made by", this.maker(pauses.strand[i])],
    ])];
  }

  strandDetails(s) {
    const { trace } = this;
    const t = trace.strands;
    const { pauses } = trace;
    const dead = !trace.isAlive(s);
    const facts = this.facts([
      ["Made by", this.maker(s)],
      ["First run by", t.resumer[s] ? this.link(t.resumer[s]) : ""],
      ["Born", duration(trace.born(s))],
      ["Lived", duration(trace.died(s) - trace.born(s))
        + (dead ? "" : ", not ended when the trace did")],
      ["Elapsed", `${duration(t.running[s])} in ${plural(t.activations[s], "activation")}`],
      ["Waited", duration(this.waited(s))],
      ["Calls", counted(t.calls[s])],
      ["Process", `${trace.process(s).name} ${trace.process(s).id}`],
    ]);
    const rows = [];
    trace.eachPause(s, (i) => {
      if (this.isWait(i)) rows.push(i);
    });
    const made = [];
    for (let child = 0; child < trace.count && made.length < 12; child++) {
      if (t.parent[child] - 1 === s && !trace.isFurther(child)) made.push(this.link(child + 1), "  ");
    }
    if (made.length) {
      facts.append(el("dt", {}, "Made"), el("dd", { class: "wide" }, ...made, made.length >= 12 ? "…" : ""));
    }
    const held = trace.held.pauses;
    const lacks = this.shortSuspensions(s);
    const caption = "Its life: when it did not run" + (lacks
      ? `, for ${duration(held.threshold)} and more; ${
        duration(lacks)} more in shorter waits` : "");
    if (lacks && !rows.length) facts.append(el("dt", {}, "Waits"), el("dd", {},
      `each shorter than ${duration(held.threshold)}, summed up in its group's row`));
    const life = rows.length ? sortable([
      { name: "from", label: "From", value: (i) => pauses.from[i],
        text: (i) => duration(pauses.from[i]) },
      { name: "time", label: "Waited", right: true, value: (i) => pauses.time[i],
        text: (i) => duration(pauses.time[i]) + (pauses.open[i] ? " …" : "") },
      { name: "why", label: "Why", value: (i) => pauses.why[i],
        text: (i) => this.why(pauses.why[i]) },
      { name: "for", label: "For", value: (i) => trace.text(pauses.reason[i]) },
      { name: "at", label: "At", value: (i) => trace.text(pauses.place[i]) },
      { name: "by", label: "Ended", value: (i) => pauses.by[i],
        text: (i) => pauses.by[i]
          ? el("span", {}, `${this.ended(i).toLowerCase()} `, this.link(pauses.by[i])) : "" },
      { name: "on", label: "On", value: (i) => pauses.thread[i],
        text: (i) => pauses.open[i] ? "" : this.link(pauses.thread[i]) },
      { name: "held", label: "Held by", value: (i) => pauses.holder[i],
        text: (i) => pauses.holder[i] ? this.link(pauses.holder[i]) : "" },
    ], rows, { sort: "from", caption, state: {},
      click: (i) => this.app.select({ type: "pause", i }, true) }) : "";
    return [el("h2", {}, trace.label(s)), facts, life];
  }
}
