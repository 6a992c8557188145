const AXIS = 22;
const FONT = "11px system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif";
/** Narrower things are drawn as one. */
const LEAST = 0.75;

/** Arrows of one strand are so many pixels apart. */
const APART = 28;

/**
 * What is selected: a call, pause or run by index, a strand, a group by row, or a sum of short
 * ones.
 * @typedef {{type: string, i: number}} Selected
 */

class Timeline {
  /** @param {Trace} trace @param {Rows} rows */
  constructor(trace, rows) {
    this.trace = trace;
    this.rows = rows;
    this.canvas = /** @type {HTMLCanvasElement} */ (byId("canvas"));
    this.context = /** @type {CanvasRenderingContext2D} */ (
      this.canvas.getContext("2d", { alpha: false }));
    this.paint = new Paint(trace, this.context);
    [this.from, this.to] = this.begin();
    this.top = 0;
    this.cursor = 0;
    /** @type {Selected | null} */
    this.selected = null;
    /** @type {[number, number] | null} */
    this.range = null;
    /** @type {Uint8Array | null} */
    this.matches = null;
    this.dirty = false;
    this.frames = [];
    this.onDraw = () => {};
    this.pauseDepth();
    new ResizeObserver(() => this.resize()).observe(byId("timeline"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.paint.refresh();
      this.ask();
    });
    this.resize();
  }

  /** What is shown first: the whole trace; where a filter has kept calls of a part, that part. */
  begin() {
    const { calls, held, begin, end } = this.trace;
    let [from, to] = [end, 0];
    for (let i = 0; i < calls.rows; i++) {
      from = Math.min(from, calls.from[i]);
      to = Math.max(to, calls.from[i] + calls.time[i]);
    }
    const part = calls.rows > 0 && !held.calls.count && to - from < (end - begin) / 4;
    if (!part) [from, to] = [begin, end];
    const margin = Math.max(to - from, 20) * (part ? 0.05 : 0.01);
    return [from - margin, to + margin];
  }

  /** The lane in which a pause is drawn: within the calls that are open meanwhile, of which a
      coroutine that is suspended has none. */
  pauseDepth() {
    const { trace, rows } = this;
    this.depthOf = new Int16Array(trace.pauses.rows);
    for (let i = 0; i < trace.pauses.rows; i++) {
      const s = trace.pauses.strand[i];
      const resumable = trace.kind(s) === 2 && trace.pauses.why[i] === 0;
      const depth = resumable ? 0 : trace.depthAt(s, trace.pauses.from[i]);
      this.depthOf[i] = depth;
      if (trace.kind(s) === 0 && trace.pauses.why[i] === 0) continue;
      rows.depths[s] = Math.max(rows.depths[s], depth + 1);
      rows.hosted[s] = Math.max(rows.hosted[s], depth + 1);
    }
    rows.build();
  }

  resize() {
    const box = byId("timeline").getBoundingClientRect();
    const ratio = window.devicePixelRatio || 1;
    this.width = Math.max(box.width, 120);
    this.height = Math.max(box.height, 60);
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.ratio = ratio;
    this.left = Math.round(Math.min(240, Math.max(104, this.width * 0.19)));
    this.ask();
  }

  /** Draws at the next frame. */
  ask() {
    if (this.dirty) return;
    this.dirty = true;
    requestAnimationFrame(() => {
      this.dirty = false;
      this.draw();
    });
  }

  get scale() { return (this.width - this.left) / (this.to - this.from); }
  x(time) { return this.left + (time - this.from) * this.scale; }
  time(x) { return this.from + (x - this.left) / this.scale; }

  zoom(factor, at = (this.from + this.to) / 2) {
    const length = Math.min(Math.max((this.to - this.from) * factor, 20), this.trace.end * 1.02);
    const share = (at - this.from) / (this.to - this.from);
    this.move(at - share * length, length);
  }

  move(from, length = this.to - this.from) {
    const margin = length * 0.02;
    const most = Math.max(this.trace.end + margin - length, -margin);
    this.from = Math.min(Math.max(from, -margin), most);
    this.to = this.from + length;
    this.ask();
  }

  scroll(top) {
    const most = Math.max(0, this.rows.height - (this.height - AXIS));
    this.top = Math.min(Math.max(top, 0), most);
    this.ask();
  }

  /** Has a row be visible. */
  reveal(row) {
    if (row < 0) return;
    this.cursor = row;
    const [top, bottom] = [this.rows.tops[row], this.rows.tops[row + 1]];
    const room = this.height - AXIS;
    if (top < this.top) this.scroll(top - 4);
    else if (bottom > this.top + room) this.scroll(Math.min(bottom - room + 4, top));
    this.ask();
  }

  /** Has a time be visible, with room around it. */
  revealTime(from, to) {
    if (from >= this.from && to <= this.to) return;
    const length = Math.max(this.to - this.from, (to - from) * 1.6);
    this.move((from + to) / 2 - length / 2, Math.min(length, this.trace.end * 1.02));
  }

  draw() {
    const began = performance.now();
    const { context: c, paint } = this;
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.fillStyle = paint.bg;
    c.fillRect(0, 0, this.width, this.height);
    c.font = FONT;
    c.textBaseline = "middle";
    this.seen = [];
    c.save();
    c.beginPath();
    c.rect(0, AXIS, this.width, this.height - AXIS);
    c.clip();
    this.ticks();
    const { rows } = this;
    for (let i = rows.rows.length ? rows.at(this.top) : 0; i < rows.rows.length; i++) {
      const y = AXIS + rows.tops[i] - this.top;
      if (y > this.height) break;
      this.row(i, rows.rows[i], y);
    }
    this.arrows();
    c.restore();
    this.axis();
    this.frames.push(performance.now() - began);
    if (this.frames.length > 600) this.frames.shift();
    this.onDraw();
  }

  /** Times of the axis: some 100 pixels apart. */
  steps() {
    const least = 110 / this.scale;
    const power = 10 ** Math.floor(Math.log10(least));
    const step = [1, 2, 5, 10].map((n) => n * power).find((step) => step >= least) || power * 10;
    const times = [];
    for (let t = Math.max(0, Math.ceil(this.from / step)) * step; t <= this.to; t += step) {
      times.push(t);
    }
    return { step, times };
  }

  ticks() {
    const { context: c } = this;
    c.strokeStyle = this.paint.rule;
    c.globalAlpha = 0.6;
    c.beginPath();
    for (const time of this.steps().times) {
      const x = Math.round(this.x(time)) + 0.5;
      c.moveTo(x, AXIS);
      c.lineTo(x, this.height);
    }
    c.stroke();
    c.globalAlpha = 1;
    if (this.range) {
      c.fillStyle = this.paint.link;
      c.globalAlpha = 0.1;
      const [a, b] = this.range.map((time) => this.x(time));
      c.fillRect(a, AXIS, b - a, this.height);
      c.globalAlpha = 1;
    }
  }

  axis() {
    const { context: c, paint } = this;
    c.fillStyle = paint.panel;
    c.fillRect(0, 0, this.width, AXIS);
    c.fillStyle = paint.rule;
    c.fillRect(0, AXIS - 1, this.width, 1);
    c.fillRect(this.left - 1, 0, 1, this.height);
    c.fillStyle = paint.soft;
    c.textAlign = "left";
    const { step, times } = this.steps();
    // `13.5 ms` rather than `13500 µs`, as long as few digits tell neighbours apart.
    const units = [["s", 1e9], ["ms", 1e6], ["µs", 1e3]];
    const fits = ([, size]) => this.to >= size && step >= size / 1e4;
    const [unit, size] = units.find(fits) ?? ["ns", 1];
    const digits = Math.max(0, Math.ceil(-Math.log10(step / size)));
    for (const time of times) {
      const x = this.x(time);
      if (x < this.left) continue;
      c.fillRect(Math.round(x), AXIS - 5, 1, 4);
      c.fillText(`${(time / size).toFixed(digits)} ${unit}`, x + 4, AXIS / 2);
    }
    c.fillStyle = paint.panel;
    c.fillRect(0, 0, this.left - 1, AXIS - 1);
    c.fillStyle = paint.soft;
    c.fillText(`${duration(this.to - this.from)} shown`, 8, AXIS / 2);
  }

  row(index, row, y) {
    const { context: c, paint } = this;
    const cursor = index === this.cursor;
    if (row.type === "group" || cursor) {
      c.fillStyle = paint.panel;
      c.fillRect(0, y, cursor ? this.left - 1 : this.width, row.height);
    }
    c.fillStyle = paint.rule;
    c.globalAlpha = 0.7;
    c.fillRect(0, Math.round(y + row.height) - 1, this.width, 1);
    c.globalAlpha = 1;
    c.save();
    c.beginPath();
    c.rect(this.left, y, this.width - this.left, row.height);
    c.clip();
    const seen = { row: index, calls: [], pauses: [], sums: 0 };
    if (row.type === "group") this.group(row, y);
    else {
      this.life(row.strand, y, row.height);
      this.sums(row.strand, y + STRIP, row.lanes);
      this.calls(row.strand, y + STRIP, row.lanes, this.from, this.to, 0, seen);
      if (row.type === "thread" && this.rows.mode !== "strands") this.hosts(row, y, seen);
      else this.activity(row.strand, y);
      this.pauses(row, y + STRIP, seen);
      this.moments(row.strand, y);
    }
    c.restore();
    this.label(row, y, cursor);
    this.seen.push(seen);
  }

  label(row, y, cursor) {
    const { context: c, paint, trace } = this;
    if (cursor) {
      c.fillStyle = paint.link;
      c.fillRect(0, y, 3, row.height - 1);
    }
    const x = 8 + row.indent * 12;
    c.fillStyle = paint.fg;
    c.textAlign = "left";
    const room = this.left - x - 8;
    if (row.type === "group") {
      c.fillText(this.fit(`${row.open ? "▾" : "▸"} ${row.group.label}`, room), x, y + 9);
      c.fillStyle = paint.soft;
      const { strands, listed, kind } = row.group;
      const more = listed < strands ? `, ${counted(listed)} listed` : "";
      c.fillText(this.fit(`${plural(strands, kind)}${more}`, room - 12), x + 12, y + 21);
      return;
    }
    const s = row.strand;
    const middle = row.height < 34 ? y + row.height / 2 : y + 10;
    const right = trace.number(s);
    const wide = c.measureText(right).width;
    c.fillText(this.fit(trace.name(s), room - wide - 6), x, middle);
    c.fillStyle = paint.soft;
    c.textAlign = "right";
    c.fillText(right, this.left - 8, middle);
    c.textAlign = "left";
    if (row.height >= 34) {
      const of = trace.head.processes.length > 1 ? `${trace.process(s).name}, ` : "";
      const kind = trace.kind(s) === 0 ? trace.entry(s) || "thread" : KINDS[trace.kind(s)];
      const elapsed = duration(trace.strands.running[s]);
      c.fillText(this.fit(`${of}${kind}, elapsed ${elapsed}`, room), x, y + 22);
      const tall = this.rows.tall.has(s);
      if (row.height >= 48 && (row.deeper || tall)) {
        const more = tall ? "▴ fewer" : `▾ ${row.deeper} deeper`;
        c.fillText(this.fit(more, room), x, y + 35);
      }
    }
  }

  /** A text as long as fits. */
  fit(text, room) {
    const { context: c } = this;
    if (room < 12) return "";
    if (text.length * 9 < room || c.measureText(text).width <= room) return text;
    let low = 0;
    let high = Math.min(text.length, Math.ceil(room / 3));
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (c.measureText(`${text.slice(0, middle)}…`).width <= room) low = middle;
      else high = middle - 1;
    }
    return low > 0 ? `${text.slice(0, low)}…` : "";
  }

  /** From birth to death. */
  life(strand, y, height) {
    const { context: c, trace } = this;
    const a = Math.max(this.x(trace.born(strand)), this.left);
    const b = Math.min(this.x(trace.died(strand)), this.width);
    if (b < this.left || a > this.width) return;
    c.fillStyle = this.paint.panel;
    c.fillRect(a, y + 1, Math.max(b - a, 1), height - 2);
  }

  /** The strip of a strand: when it runs. */
  activity(strand, y) {
    const { context: c, trace } = this;
    const { runs, runOrder } = trace;
    c.fillStyle = this.paint.soft;
    const end = trace.runsOf[strand + 1];
    let k = first(trace.runsOf[strand], end,
      (k) => runs.from[runOrder[k]] + runs.time[runOrder[k]] >= this.from);
    for (; k < end; k++) {
      const i = runOrder[k];
      if (runs.from[i] > this.to) break;
      const a = this.x(runs.from[i]);
      const b = Math.max(this.x(runs.from[i] + runs.time[i]), a + 1);
      c.fillRect(a, y + 2, b - a, STRIP - 4);
      const next = this.time(b);
      while (k + 1 < end && runs.from[runOrder[k + 1]] + runs.time[runOrder[k + 1]] < next) k++;
    }
  }

  /** A strand's calls between two times, in lanes from `base` on. */
  calls(strand, y, lanes, from, to, base, seen) {
    const { trace } = this;
    const { calls } = trace;
    const { scale } = this;
    for (let lane = trace.lanesOf[strand]; lane < trace.lanesOf[strand + 1]; lane++) {
      const low = trace.laneFrom[lane];
      const high = trace.laneFrom[lane + 1];
      const depth = base + calls.depth[low];
      if (depth >= lanes) continue;
      let i = first(low, high, (i) => calls.from[i] + calls.time[i] >= from);
      while (i < high && calls.from[i] <= to) {
        const a = this.x(Math.max(calls.from[i], from));
        const b = this.x(Math.min(calls.from[i] + calls.time[i], to));
        this.slice(i, a, b, y + depth * LANE);
        if (seen && seen.calls.length < 40) seen.calls.push(i);
        if (b - a >= LEAST) i++;
        else {
          // All that is within this pixel is drawn with it.
          const next = calls.from[i] + LEAST / scale;
          i = first(i + 1, high, (i) => calls.from[i] + calls.time[i] >= next);
        }
      }
    }
  }

  slice(i, a, b, y) {
    const { context: c, paint, trace, matches } = this;
    const f = trace.calls.function[i];
    const hue = paint.hueOf[f];
    const chosen = this.selected && this.selected.type === "call" && this.selected.i === i;
    const dim = matches && !matches[f];
    const width = Math.max(b - a - (b - a > 3 ? 1 : 0), 1);
    c.globalAlpha = dim ? 0.35 : 1;
    c.fillStyle = paint.tints[hue];
    c.fillRect(a, y, width, LANE - 1);
    if (trace.calls.open[i] && b - a > 4) {
      // It had not ended: a torn edge.
      c.fillStyle = paint.bg;
      for (let k = 0; k < LANE; k += 4) c.fillRect(b - 3, y + k, 3, 2);
    }
    if (width > 22) {
      const left = Math.max(a, this.left);
      c.fillStyle = paint.fg;
      c.fillText(this.fit(trace.function(f), b - left - 7), left + 3, y + LANE / 2);
    }
    c.globalAlpha = 1;
    if (matches && !dim) this.outline(a, y, width, paint.mark, 1);
    if (chosen) this.outline(a, y, width, paint.link, 2);
  }

  outline(a, y, width, colour, line) {
    const { context: c } = this;
    c.strokeStyle = colour;
    c.lineWidth = line;
    const left = Math.max(a, this.left + 1);
    c.strokeRect(left + line / 2 - 0.5, y + 0.5, Math.max(a + width - left - line + 1, 1), LANE - 2);
    c.lineWidth = 1;
  }

  /** What runs on a thread, and its calls. */
  hosts(row, y, seen) {
    const { context: c, trace, paint } = this;
    const { runs } = trace;
    const thread = row.strand;
    const end = trace.runsOn[thread + 1];
    const low = trace.runsOn[thread];
    const begins = first(low, end, (i) => runs.from[i] >= this.from);
    // What began before and goes on: the run before, and what that is within.
    const before = [];
    for (let i = begins - 1; i >= low; i = trace.within[i]) before.unshift(i);
    let drawn = -Infinity;
    for (let k = -before.length; begins + k < end; k++) {
      const i = k < 0 ? before[before.length + k] : begins + k;
      if (runs.from[i] > this.to) break;
      const to = runs.from[i] + runs.time[i];
      if (to < this.from) continue;
      const a = this.x(runs.from[i]);
      const b = this.x(to);
      if (b - a < LEAST) {
        // Short runs within a pixel are one; longer ones may have begun among them.
        if (a < drawn + LEAST) continue;
        drawn = a;
      }
      const hue = paint.hueOfGroup[trace.strands.group[runs.strand[i]]];
      const chosen = this.selected && this.selected.type === "run" && this.selected.i === i;
      c.fillStyle = paint.edges[hue];
      c.fillRect(a, y + 1, Math.max(b - a, 1), STRIP - 2);
      if (chosen) this.outline(a, y, Math.max(b - a, 2), paint.link, 2);
      if (b - a >= LEAST) {
        this.calls(runs.strand[i], y + STRIP, row.lanes, Math.max(runs.from[i], this.from),
          Math.min(to, this.to), trace.base[i], seen);
      }
    }
    this.runSums(thread, y);
  }

  /** Runs that are summed up, as bars on the strip. */
  runSums(thread, y) {
    const { context: c, trace, paint } = this;
    const cells = trace.cells.runs;
    const { width } = trace.held.runs;
    const end = trace.cellsOf.runs[thread + 1];
    const low = Math.floor(this.from / width);
    let i = first(trace.cellsOf.runs[thread], end, (i) => cells.column[i] >= low);
    for (; i < end && cells.column[i] * width <= this.to; i++) {
      const a = this.x(cells.column[i] * width);
      const share = Math.min(1, cells.time[i] / width);
      c.fillStyle = paint.edges[paint.hueOfGroup[cells.what[i]]];
      c.globalAlpha = 0.25 + 0.6 * share;
      c.fillRect(a, y + 1, Math.max(width * this.scale, 1), STRIP - 2);
    }
    c.globalAlpha = 1;
  }

  /** Calls that are summed up: bars in their lanes, as high as they take of the time. */
  sums(row, y, lanes) {
    const { context: c, trace, paint } = this;
    const cells = trace.cells.calls;
    const { width } = trace.held.calls;
    const begin = trace.cellsOf.calls[row];
    const end = trace.cellsOf.calls[row + 1];
    if (begin === end) return;
    const low = Math.floor(this.from / width);
    const high = Math.ceil(this.to / width);
    for (let depth = 0; depth < lanes; depth++) {
      let i = first(begin, end, (i) => cells.depth[i] > depth
        || (cells.depth[i] === depth && cells.column[i] >= low));
      if (i >= end) break;
      while (i < end && cells.depth[i] === depth && cells.column[i] <= high) {
        const column = cells.column[i];
        let most = i;
        let time = 0;
        for (; i < end && cells.depth[i] === depth && cells.column[i] === column; i++) {
          time += cells.time[i];
          if (cells.time[i] > cells.time[most]) most = i;
        }
        const height = Math.max(2, (LANE - 2) * Math.min(1, time / width));
        const f = cells.what[most];
        c.fillStyle = paint.tints[paint.hueOf[f]];
        c.globalAlpha = this.matches && !this.matches[f] ? 0.25 : 0.75;
        const a = this.x(column * width);
        c.fillRect(a, y + (depth + 1) * LANE - 1 - height, Math.max(width * this.scale, 1), height);
      }
    }
    c.globalAlpha = 1;
  }

  pauses(row, y, seen) {
    const { trace } = this;
    const { pauses } = trace;
    const s = row.strand;
    const end = trace.pausesOf[s + 1];
    const own = row.type === "thread" && this.rows.mode !== "strands";
    let i = first(trace.pausesOf[s], end, (i) => pauses.from[i] + pauses.time[i] >= this.from);
    for (; i < end && pauses.from[i] <= this.to; i++) {
      // Meanwhile others run on the thread.
      if (own && pauses.why[i] === 0 && this.rows.hosts[s]) continue;
      const a = this.x(pauses.from[i]);
      const b = this.x(pauses.from[i] + pauses.time[i]);
      this.pause(i, a, b, y, row);
      if (seen.pauses.length < 40) seen.pauses.push(i);
      if (b - a < LEAST) {
        const next = pauses.from[i] + LEAST / this.scale;
        i = first(i + 1, end, (i) => pauses.from[i] + pauses.time[i] >= next) - 1;
      }
    }
  }

  pause(i, a, b, top, row) {
    const { context: c, paint, trace } = this;
    const { pauses } = trace;
    const why = pauses.why[i];
    const lane = Math.min(this.depthOf[i], Math.max(row.lanes - 1, 0));
    const y = top + lane * LANE;
    const width = Math.max(b - a, 1);
    c.fillStyle = width > 3 ? paint.patterns[why] : paint.whySolid[why];
    c.fillRect(a, y, width, LANE - 1);
    if (width > 3) {
      c.fillStyle = paint.whySolid[why];
      c.fillRect(a, y, 2, LANE - 1);
    }
    if (width > 40) {
      const left = Math.max(a, this.left);
      const reason = trace.text(pauses.reason[i]);
      const text = this.fit(`${reason || WHY[why]} ${duration(pauses.time[i])}`, b - left - 12);
      if (text) {
        c.fillStyle = paint.whyTints[why];
        c.fillRect(left + 4, y + 1, c.measureText(text).width + 6, LANE - 3);
        c.fillStyle = paint.fg;
        c.fillText(text, left + 7, y + LANE / 2);
      }
    }
    const chosen = this.selected && this.selected.type === "pause" && this.selected.i === i;
    if (chosen) this.outline(a, y, width, paint.link, 2);
  }

  /** Marks and gaps. */
  moments(strand, y) {
    const { context: c, trace, paint } = this;
    for (const i of trace.eventsOf.get(strand) || []) {
      const x = this.x(trace.events.time[i]);
      if (x < this.left || x > this.width) continue;
      c.fillStyle = paint.mark;
      c.beginPath();
      c.moveTo(x - 4, y);
      c.lineTo(x + 4, y);
      c.lineTo(x, y + 6);
      c.fill();
    }
  }

  /** A closed group: how many of its strands live, and why they wait. */
  group(row, y) {
    const { context: c, paint } = this;
    const bins = crowd(this.trace, row.group);
    const room = row.height - 6;
    const bottom = y + row.height - 3;
    const step = this.trace.end / bins.count;
    const from = Math.max(0, Math.floor(this.from / step));
    const to = Math.min(bins.count - 1, Math.ceil(this.to / step));
    for (let bin = from; bin <= to; bin++) {
      const a = this.x(bin * step);
      const width = Math.max(step * this.scale, 1);
      const height = (room * bins.alive[bin]) / bins.most;
      if (height <= 0) continue;
      c.fillStyle = paint.rule;
      c.fillRect(a, bottom - Math.max(height, 1), width, Math.max(height, 1));
      let base = bottom;
      for (let why = 0; why < WHY.length; why++) {
        const part = (room * bins.waits[why][bin]) / bins.most;
        if (part < 0.3) continue;
        c.fillStyle = paint.patterns[why];
        c.fillRect(a, base - part, width, part);
        base -= part;
      }
    }
  }

  /** Arrows of what is selected: from its maker, from those that resumed it. */
  arrows() {
    const { trace, selected } = this;
    if (!selected) return;
    const { pauses, strands } = trace;
    const s = this.strandOf(selected);
    if (s < 0) return;
    const parent = strands.parent[s];
    if (parent) this.arrow(parent - 1, trace.born(s), s, this.firstRun(s), "made");
    const one = (i) => {
      const by = pauses.by[i];
      const until = pauses.from[i] + pauses.time[i];
      if (by && by <= trace.count && !pauses.open[i]) this.arrow(by - 1, until, s, until, "resumed");
    };
    if (selected.type === "pause") {
      one(selected.i);
      const holder = pauses.holder[selected.i];
      if (holder && holder <= trace.count) {
        this.arrow(holder - 1, pauses.from[selected.i], s, pauses.from[selected.i], "holds");
      }
    } else if (selected.type === "run") {
      const by = trace.runs.by[selected.i];
      const from = trace.runs.from[selected.i];
      if (by && by <= trace.count) this.arrow(by - 1, from, s, from, "resumed");
    } else {
      // Those that are far enough apart to be told apart; a closer look shows the others.
      const end = trace.pausesOf[s + 1];
      let i = first(trace.pausesOf[s], end, (i) => pauses.from[i] + pauses.time[i] >= this.from);
      for (let free = -1; i < end && pauses.from[i] <= this.to; i++) {
        const x = this.x(pauses.from[i] + pauses.time[i]);
        if (x < free) continue;
        one(i);
        free = x + APART;
      }
    }
    if (selected.type !== "strand") return;
    for (let child = 0, free = -1; child < trace.count; child++) {
      if (strands.parent[child] - 1 !== s || this.x(trace.born(child)) < free) continue;
      if (this.arrow(s, trace.born(child), child, this.firstRun(child), "made")) {
        free = this.x(trace.born(child)) + APART;
      }
    }
  }

  firstRun(s) {
    const { trace } = this;
    const at = trace.runsOf[s];
    if (at < trace.runsOf[s + 1]) return trace.runs.from[trace.runOrder[at]];
    const call = trace.callsOf[s];
    return call < trace.callsOf[s + 1] ? trace.calls.from[call] : trace.born(s);
  }

  /** The height at which arrows meet a strand's row; where it has none, that of its thread. */
  anchor(s, time) {
    const { rows, trace } = this;
    let row = rows.of.get(s);
    if (row === undefined) {
      const run = trace.runAt(s, time);
      const thread = run >= 0 ? trace.runs.thread[run] - 1 : trace.strands.thread[s] - 1;
      row = rows.of.get(thread);
    }
    if (row === undefined) return null;
    return AXIS + rows.tops[row] - this.top + STRIP + 6;
  }

  arrow(from, fromTime, to, toTime, what) {
    const { context: c, paint } = this;
    const a = this.anchor(from, fromTime);
    const b = this.anchor(to, toTime);
    if (a === null || b === null || (a === b && from === to)) return false;
    const [x, z] = [this.x(fromTime), this.x(toTime)];
    if ((x < this.left && z < this.left) || (x > this.width && z > this.width)) return false;
    const bend = Math.max(18, Math.abs(z - x) / 2);
    c.strokeStyle = c.fillStyle = what === "made" ? paint.soft : paint.link;
    c.setLineDash(what === "made" ? [4, 3] : what === "holds" ? [1, 3] : []);
    c.lineWidth = 1.25;
    c.globalAlpha = 0.8;
    c.beginPath();
    c.moveTo(x, a);
    c.bezierCurveTo(x + bend, a, z - bend, b, z - 2, b);
    c.stroke();
    c.setLineDash([]);
    c.beginPath();
    c.moveTo(z, b);
    c.lineTo(z - 6, b - 3.5);
    c.lineTo(z - 6, b + 3.5);
    c.fill();
    c.globalAlpha = 1;
    c.lineWidth = 1;
    return true;
  }

  /** The strand of what is selected, or -1. @param {Selected | null} selected */
  strandOf(selected) {
    if (!selected) return -1;
    const { trace } = this;
    switch (selected.type) {
      case "call": return trace.calls.strand[selected.i];
      case "pause": return trace.pauses.strand[selected.i];
      case "run": return trace.runs.strand[selected.i];
      case "strand": return selected.i;
      default: return -1;
    }
  }

  /** The row at a height of the canvas. */
  rowAt(y) { return this.rows.at(y - AXIS + this.top); }

  /** Whether a click is on the words that open a row's lanes. */
  onMore(event, row) {
    const top = AXIS + this.rows.tops[row] - this.top;
    return event.offsetX < this.left && event.offsetY > top + 28 && event.offsetY < top + 44;
  }

  /** What is at a place of the canvas. @returns {Selected | null} */
  pick(x, y) {
    const { rows, trace } = this;
    if (y < AXIS || !rows.rows.length) return null;
    const down = y - AXIS + this.top;
    if (down >= rows.height) return null;
    const index = rows.at(down);
    const row = rows.rows[index];
    if (row.type === "group") return { type: "group", i: index };
    if (x < this.left) return { type: "strand", i: row.strand };
    const time = this.time(x);
    const slack = 2 / this.scale;
    const inner = down - rows.tops[index];
    const threads = row.type === "thread" && rows.mode !== "strands";
    const lane = Math.floor((inner - STRIP) / LANE);
    const run = threads ? this.runOn(row.strand, time) : -1;
    if (inner < STRIP) {
      return run >= 0 ? { type: "run", i: run } : { type: "strand", i: row.strand };
    }
    const pause = this.pauseAt(row.strand, time, slack);
    const hidden = threads && pause >= 0 && trace.pauses.why[pause] === 0 && rows.hosts[row.strand];
    if (pause >= 0 && !hidden && Math.min(this.depthOf[pause], row.lanes - 1) === lane) {
      return { type: "pause", i: pause };
    }
    let found = this.callOf(row.strand, lane, time, slack);
    for (let i = run, tries = 0; found < 0 && i >= 0 && tries < 16; i--, tries++) {
      const { runs } = trace;
      if (i < trace.runsOn[row.strand]) break;
      if (runs.from[i] + runs.time[i] < time) continue;
      found = this.callOf(runs.strand[i], lane - trace.base[i], time, slack);
    }
    if (found >= 0) return { type: "call", i: found };
    if (run >= 0) return { type: "run", i: run };
    return { type: "strand", i: row.strand };
  }

  /** The innermost run on a thread at a time, or -1. */
  runOn(thread, time) {
    const { runs, runsOn } = this.trace;
    let i = first(runsOn[thread], runsOn[thread + 1], (i) => runs.from[i] > time) - 1;
    for (let tries = 0; i >= runsOn[thread] && tries < 64; i--, tries++) {
      if (runs.from[i] + runs.time[i] >= time) return i;
    }
    return -1;
  }

  callOf(strand, depth, time, slack) {
    const { trace } = this;
    if (depth < 0) return -1;
    for (let lane = trace.lanesOf[strand]; lane < trace.lanesOf[strand + 1]; lane++) {
      if (trace.calls.depth[trace.laneFrom[lane]] !== depth) continue;
      const i = trace.callAt(lane, time);
      return i >= 0 ? i : trace.callAt(lane, time - slack);
    }
    return -1;
  }

  pauseAt(strand, time, slack) {
    const { pauses, pausesOf } = this.trace;
    const low = pausesOf[strand];
    const i = first(low, pausesOf[strand + 1], (i) => pauses.from[i] > time) - 1;
    if (i < low) return -1;
    return pauses.from[i] + pauses.time[i] + slack >= time ? i : -1;
  }
}
