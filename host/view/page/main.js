/** The page: keys, pointer, search, and what is selected. */
class App {
  /** @param {Trace} trace */
  constructor(trace) {
    this.trace = trace;
    this.rows = new Rows(trace);
    this.timeline = new Timeline(trace, this.rows);
    this.tables = new Tables(trace, this.timeline, this);
    /** @type {Selected[]} */
    this.found = [];
    this.at = -1;
    this.timeline.onDraw = () => this.later();
    this.header();
    this.legend();
    this.controls();
    this.pointer();
    this.split();
    document.addEventListener("keydown", (event) => this.key(event));
    this.tables.show();
  }

  header() {
    const { head } = this.trace;
    // What further rows of strands have is counted as those of the strands.
    const groups = this.trace.groups.filter((group) => !group.further);
    const all = groups.reduce((sum, group) => sum + group.strands, 0);
    const made = groups.reduce((sum, group) => sum + group.calls, 0);
    byId("title").textContent = head.title;
    const when = head.since ? new Date(head.since).toISOString().slice(0, 19).replace("T", " ") : "";
    byId("facts").textContent = [head.command, head.host, when && `${when} UTC`,
      duration(this.trace.end - this.trace.begin), plural(all, "strand"), plural(made, "call")]
      .filter(Boolean).join(" · ");
    const notes = head.notes.slice();
    const { held } = this.trace;
    const summed = (what, one, more) => {
      const text = this.trace.summed(what, one);
      if (text) notes.push(`${text}: summed up by ${duration(held[what].width)}, ${
        duration(held[what].time)} in all${more}.`);
    };
    summed("calls", "call", "; tables of the whole trace count every call");
    summed("pauses", "wait", "");
    summed("runs", "activation", "");
    if (head.moreEvents) notes.push(`${plural(head.moreEvents, "mark")} more are not shown.`);
    if (!made) notes.push("The trace has no calls: see heddle info.");
    byId("notes").replaceChildren(...notes.map((note) => el("li", {}, note)));
  }

  legend() {
    const { paint } = this.timeline;
    const used = new Set(this.trace.pauses.why);
    const items = WHY.map((_, why) => why).filter((why) => used.has(why)).map((why) =>
      el("span", {}, paint.swatch(why), ` ${WHY_TEXT[why]}`));
    if (this.trace.held.calls.count) {
      items.push(el("span", {}, el("i", { class: "short" }), " short calls, summed up"));
    }
    if (this.rows.hasStrands) items.push(el("span", {}, el("i", { class: "strip" }), " runs"));
    items.push(el("span", {}, el("i", { class: "torn" }), " not ended"));
    byId("legend").replaceChildren(...items);
  }

  controls() {
    const { timeline, rows } = this;
    const mode = byId("mode");
    const by = byId("by");
    if (!rows.hasStrands) mode.parentNode.hidden = by.parentNode.hidden = true;
    const change = () => {
      rows.mode = mode.value;
      rows.by = by.value;
      rows.build();
      timeline.scroll(timeline.top);
    };
    mode.addEventListener("change", change);
    by.addEventListener("change", change);
    byId("in").addEventListener("click", () => timeline.zoom(0.5));
    byId("out").addEventListener("click", () => timeline.zoom(2));
    byId("all").addEventListener("click", () => this.all());
    byId("keys").addEventListener("click", () => byId("help").showModal());
    const search = byId("search");
    search.addEventListener("input", () => this.search(search.value));
    search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        this.step(event.shiftKey ? -1 : 1);
        // There n and N go on.
        byId("canvas").focus();
      }
      if (event.key === "Escape") {
        search.value = "";
        this.search("");
        byId("canvas").focus();
      }
      event.stopPropagation();
    });
  }

  all() {
    const { timeline, trace } = this;
    const length = trace.end - trace.begin;
    timeline.range = null;
    timeline.move(trace.begin - 0.01 * length, 1.02 * length);
    this.tables.show();
  }

  /** Selects something, and shows it. @param {Selected | null} selected */
  select(selected, shows = false) {
    const { timeline, trace, rows } = this;
    timeline.selected = selected;
    const strand = timeline.strandOf(selected);
    if (strand >= 0 && selected) {
      let row = rows.show(strand);
      if (row < 0) {
        const on = this.threadOf(selected);
        row = on >= 0 ? rows.show(on) : -1;
      }
      if (shows) timeline.reveal(row);
      else if (row >= 0) timeline.cursor = row;
      if (shows) {
        const t = selected.type === "call" ? trace.calls : selected.type === "pause"
          ? trace.pauses : selected.type === "run" ? trace.runs : null;
        if (t) timeline.revealTime(t.from[selected.i], t.from[selected.i] + t.time[selected.i]);
        else timeline.revealTime(trace.born(strand), trace.died(strand));
      }
    } else if (selected && selected.type === "group") timeline.cursor = selected.i;
    byId("status").textContent = selected ? this.says(selected) : "nothing selected";
    if (selected && this.tables.tab !== "flame") this.tables.tab = "details";
    this.tables.show();
    timeline.ask();
  }

  /** The thread on which what is selected is drawn. */
  threadOf(selected) {
    const { trace, timeline } = this;
    if (selected.type === "call") return trace.calls.thread[selected.i] - 1;
    if (selected.type === "run") return trace.runs.thread[selected.i] - 1;
    return trace.strands.thread[timeline.strandOf(selected)] - 1;
  }

  /** @param {Selected} selected */
  says(selected) {
    const { trace } = this;
    const { i } = selected;
    switch (selected.type) {
      case "call":
        return `${trace.function(trace.calls.function[i])} ${duration(trace.calls.time[i])}, ${
          trace.label(trace.calls.strand[i])}`;
      case "pause": {
        const { pauses } = trace;
        return `${WHY_TEXT[pauses.why[i]]} ${trace.text(pauses.reason[i])} ${
          duration(pauses.time[i])}, ${trace.label(pauses.strand[i])}`;
      }
      case "run":
        return `${trace.label(trace.runs.strand[i])} runs ${duration(trace.runs.time[i])}`;
      case "strand": return trace.label(i);
      default: {
        const row = this.rows.rows[i];
        return row && row.group ? `${row.group.label}: ${plural(row.group.strands,
          row.group.kind)}` : "";
      }
    }
  }

  /** Marks the functions that match. */
  match(test) {
    const marks = new Uint8Array(this.trace.head.functions.length);
    let any = false;
    for (let f = 0; f < marks.length; f++) if (test(f)) marks[f] = 1, any = true;
    this.timeline.matches = any ? marks : null;
    this.timeline.ask();
  }

  search(text) {
    const { trace } = this;
    const wanted = text.trim().toLowerCase();
    this.found = [];
    this.at = -1;
    if (!wanted) {
      this.timeline.matches = null;
      byId("found").textContent = "";
      return this.timeline.ask();
    }
    const has = (text) => text.toLowerCase().includes(wanted);
    const functions = trace.head.functions.map(([name]) => has(name));
    this.match((f) => functions[f]);
    const most = 20000;
    const { calls, pauses } = trace;
    const groups = trace.groups.map((group) => has(trace.groupLabel(group)));
    for (let s = 0; s < trace.count && this.found.length < most; s++) {
      if (groups[trace.strands.group[s]] || has(trace.label(s))) {
        this.found.push({ type: "strand", i: s });
      }
    }
    for (let i = 0; i < calls.rows && this.found.length < most; i++) {
      if (functions[calls.function[i]]) this.found.push({ type: "call", i });
    }
    const texts = trace.head.texts.map((text) => text && has(text));
    for (let i = 0; i < pauses.rows && this.found.length < most; i++) {
      if (texts[pauses.reason[i]] || texts[pauses.place[i]]) {
        this.found.push({ type: "pause", i });
      }
    }
    const matched = functions.reduce((sum, has, f) =>
      sum + (has ? trace.functions.calls[f] : 0), 0);
    byId("found").textContent = `${plural(this.found.length, "match").replace(/hs$/, "hes")}${
      matched ? `, ${plural(matched, "call")}` : ""}`;
  }

  /** To the next match, or the one before. */
  step(by) {
    if (!this.found.length) return;
    this.at = (this.at + by + this.found.length) % this.found.length;
    if (this.at < 0) this.at = 0;
    this.select(this.found[this.at], true);
    byId("found").textContent = `${this.at + 1} of ${plural(this.found.length, "match")
      .replace(/hs$/, "hes")}`;
  }

  /** Selects the longest call of a function that is kept. */
  longestCall(f, scope) {
    const { calls, callsOf } = this.trace;
    let longest = -1;
    for (const s of scope.strands) {
      for (let i = callsOf[s]; i < callsOf[s + 1]; i++) {
        if (calls.function[i] === f && (longest < 0 || calls.time[i] > calls.time[longest])) {
          longest = i;
        }
      }
    }
    this.match((other) => other === f);
    if (longest >= 0) this.select({ type: "call", i: longest }, true);
  }

  pointer() {
    const { timeline } = this;
    const canvas = timeline.canvas;
    const tip = byId("tip");
    /** @type {any} */
    let drag = null;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      drag = { x: event.offsetX, y: event.offsetY, from: timeline.from, top: timeline.top,
        moved: false, range: event.shiftKey };
      tip.hidden = true;
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!drag) return this.hover(event);
      const [dx, dy] = [event.offsetX - drag.x, event.offsetY - drag.y];
      if (Math.abs(dx) + Math.abs(dy) > 3) drag.moved = true;
      if (!drag.moved) return;
      if (drag.range) {
        const ends = [timeline.time(drag.x), timeline.time(event.offsetX)];
        timeline.range = [Math.max(0, Math.min(...ends)), Math.max(...ends)];
        timeline.ask();
      } else {
        timeline.move(drag.from - dx / timeline.scale);
        timeline.scroll(drag.top - dy);
      }
    });
    canvas.addEventListener("pointerup", (event) => {
      if (drag && !drag.moved) {
        const picked = timeline.pick(event.offsetX, event.offsetY);
        const row = timeline.rowAt(event.offsetY);
        const opens = picked && (picked.type === "group" || timeline.onMore(event, row));
        if (opens && this.rows.toggle(row)) timeline.scroll(timeline.top);
        this.select(picked);
      } else if (drag && drag.range) this.tables.show();
      drag = null;
    });
    canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
    canvas.addEventListener("dblclick", () => this.zoomTo());
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      tip.hidden = true;
      if (event.ctrlKey || event.metaKey) {
        timeline.zoom(Math.exp(event.deltaY * 0.004), timeline.time(event.offsetX));
      } else {
        const sideways = event.shiftKey ? event.deltaY : event.deltaX;
        if (sideways) timeline.move(timeline.from + sideways / timeline.scale);
        if (!event.shiftKey) timeline.scroll(timeline.top + event.deltaY);
      }
    }, { passive: false });
  }

  hover(event) {
    const { timeline } = this;
    const tip = byId("tip");
    const picked = timeline.pick(event.offsetX, event.offsetY);
    if (!picked) {
      tip.hidden = true;
      return;
    }
    tip.textContent = this.says(picked);
    tip.hidden = false;
    const left = Math.min(event.offsetX + 14, timeline.width - tip.offsetWidth - 4);
    const below = event.offsetY + 18;
    const top = below + tip.offsetHeight > timeline.height
      ? event.offsetY - tip.offsetHeight - 8 : below;
    tip.style.transform = `translate(${Math.max(left, 0)}px, ${top}px)`;
  }

  /** Zooms to what is selected. */
  zoomTo() {
    const { timeline, trace } = this;
    const { selected } = timeline;
    if (timeline.range && !selected) {
      const [from, to] = timeline.range;
      return timeline.move(from, to - from);
    }
    const strand = timeline.strandOf(selected);
    if (!selected || strand < 0) return;
    const t = selected.type === "call" ? trace.calls : selected.type === "pause"
      ? trace.pauses : selected.type === "run" ? trace.runs : null;
    const from = t ? t.from[selected.i] : trace.born(strand);
    const length = t ? t.time[selected.i] : trace.died(strand) - from;
    const room = Math.max(length * 0.1, 5);
    timeline.move(from - room, length + 2 * room);
  }

  split() {
    const handle = byId("split");
    const panel = byId("panel");
    let dragging = false;
    handle.addEventListener("pointerdown", (event) => {
      dragging = true;
      handle.setPointerCapture(event.pointerId);
    });
    handle.addEventListener("pointermove", (event) => {
      if (!dragging) return;
      const height = window.innerHeight - event.clientY;
      panel.style.height = `${Math.max(80, Math.min(height, window.innerHeight - 200))}px`;
    });
    handle.addEventListener("pointerup", () => { dragging = false; });
  }

  /** Selects the row that the cursor is on. */
  row(to) {
    const { rows, timeline } = this;
    const row = Math.min(Math.max(to, 0), rows.rows.length - 1);
    if (row < 0) return;
    timeline.reveal(row);
    const of = rows.rows[row];
    this.select(of.type === "group" ? { type: "group", i: row } : { type: "strand", i: of.strand });
  }

  /** Selects the call or wait of the row behind the selected one, or before it. */
  sibling(by) {
    const { trace, timeline } = this;
    const { selected } = timeline;
    const strand = timeline.strandOf(selected);
    if (!selected || strand < 0) return;
    const waits = selected.type === "pause";
    const of = waits ? trace.pausesOf : trace.callsOf;
    const [low, high] = [of[strand], of[strand + 1]];
    if (low === high) return;
    const begins = selected.type === "pause" || selected.type === "call";
    const i = begins ? Math.min(Math.max(selected.i + by, low), high - 1) : low;
    this.select({ type: waits ? "pause" : "call", i }, true);
  }

  /** Selects who made or resumed what is selected. */
  related(how) {
    const { trace, timeline } = this;
    const { selected } = timeline;
    const strand = timeline.strandOf(selected);
    if (!selected || strand < 0) return;
    let place = trace.strands.parent[strand];
    if (how === "resumer") {
      place = selected.type === "pause" ? trace.pauses.by[selected.i]
        : selected.type === "run" ? trace.runs.by[selected.i] : trace.strands.resumer[strand];
    }
    if (place && place <= trace.count) this.select({ type: "strand", i: place - 1 }, true);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
    const { timeline } = this;
    const target = /** @type {any} */ (event.target);
    if (["SELECT", "INPUT"].includes(target.tagName)) return;
    const inPanel = byId("panel").contains(target) || byId("split").contains(target);
    const move = (timeline.to - timeline.from) * 0.15;
    const { cursor } = timeline;
    /** @type {Record<string, () => void>} */
    const keys = {
      h: () => timeline.move(timeline.from - move),
      l: () => timeline.move(timeline.from + move),
      j: () => this.row(timeline.selected ? cursor + 1 : cursor),
      k: () => this.row(cursor - 1),
      g: () => this.row(0),
      G: () => this.row(this.rows.rows.length - 1),
      "+": () => timeline.zoom(0.6, this.middle()),
      "=": () => timeline.zoom(0.6, this.middle()),
      "-": () => timeline.zoom(1 / 0.6, this.middle()),
      0: () => this.all(),
      n: () => this.step(1),
      N: () => this.step(-1),
      "]": () => this.sibling(1),
      "[": () => this.sibling(-1),
      m: () => this.related("maker"),
      r: () => this.related("resumer"),
      "/": () => byId("search").focus(),
      "?": () => byId("help").showModal(),
      Escape: () => {
        timeline.range = null;
        timeline.matches = null;
        this.select(null);
      },
    };
    if (!inPanel) {
      Object.assign(keys, {
        ArrowLeft: keys.h,
        ArrowRight: keys.l,
        ArrowDown: keys.j,
        ArrowUp: keys.k,
        Enter: () => {
          if (target.tagName === "BUTTON") return;
          const { selected } = timeline;
          const isRow = !selected || ["group", "strand"].includes(selected.type);
          if (isRow && this.rows.toggle(cursor)) timeline.scroll(timeline.top);
          else this.zoomTo();
        },
      });
    }
    const does = keys[event.key];
    if (!does || (event.key === "Enter" && target.tagName === "BUTTON")) return;
    event.preventDefault();
    does();
  }

  /** Where keys zoom: at what is selected, if that is visible. */
  middle() {
    const { timeline, trace } = this;
    const { selected } = timeline;
    const t = selected && (selected.type === "call" ? trace.calls : selected.type === "pause"
      ? trace.pauses : null);
    const at = selected && t ? t.from[selected.i] + t.time[selected.i] / 2 : NaN;
    return at > timeline.from && at < timeline.to ? at : (timeline.from + timeline.to) / 2;
  }

  /** Writes what is visible as a table, when the view has rested. */
  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.mirror(), 120);
  }

  mirror() {
    this.timer = 0;
    const { trace, timeline, rows } = this;
    const lines = timeline.seen.slice(0, 60).map((seen) => {
      const row = rows.rows[seen.row];
      const label = row.type === "group" ? `${row.group.label}: ${plural(row.group.strands,
        row.group.kind)}` : trace.label(row.strand);
      const calls = seen.calls.map((i) =>
        `${trace.function(trace.calls.function[i])} ${duration(trace.calls.time[i])}`);
      const waits = seen.pauses.map((i) => `${WHY[trace.pauses.why[i]]} ${
        trace.text(trace.pauses.reason[i])} ${duration(trace.pauses.time[i])}`);
      return el("tr", {}, el("th", { scope: "row" }, label), el("td", {}, calls.join("; ")),
        el("td", {}, waits.join("; ")));
    });
    byId("mirror").tBodies[0].replaceChildren(...lines);
  }
}

unpack().then((head) => {
  const app = new App(new Trace(head));
  // For whoever asks the page by script.
  Object.assign(window, { heddle: app });
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}, (error) => {
  byId("facts").textContent = `The trace in this page cannot be read: ${error.message}`;
  document.documentElement.dataset.ready = "failed";
});
