/**
 * @typedef {Float64Array} Column
 * @typedef {{rows: number, [name: string]: any}} Table
 * @typedef {{threshold: number, count: number, time: number, width: number}} Summed
 */

/** Kinds of strands, and why they do not run, in the order of their numbers. */
const KINDS = ["thread", "fiber", "coroutine"];
const WHY = ["suspended", "lock", "condition", "kernel", "ready"];
const WHY_TEXT = ["suspended", "waits for a lock", "waits for a condition", "in the kernel",
  "ready, no processor"];

/** Unpacks the trace in the page. @returns {Promise<any>} */
async function unpack() {
  const text = /** @type {HTMLElement} */ (document.getElementById("trace")).textContent || "";
  const letters = atob(text.trim());
  const packed = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) packed[i] = letters.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  if (head.version !== 1) throw new Error(`version ${head.version} of the data is not known`);
  let at = 4 + length;
  for (const table of Object.values(head.tables)) {
    for (const name of table.columns) {
      const differs = name.startsWith("d ");
      const column = new Float64Array(table.rows);
      let before = 0;
      for (let i = 0; i < table.rows; i++) {
        let byte = bytes[at++];
        let value = byte & 127;
        for (let scale = 128; byte > 127; scale *= 128) {
          byte = bytes[at++];
          value += (byte & 127) * scale;
        }
        if (differs) {
          before += value % 2 ? -(value + 1) / 2 : value / 2;
          value = before;
        }
        column[i] = value;
      }
      table[differs ? name.slice(2) : name] = column;
    }
  }
  return head;
}

/** First index in [low, high) at which `after` holds; it holds from there on. */
function first(low, high, after) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (after(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** For rows in order of `keys`: where those of each key begin, and the end. */
function starts(keys, count) {
  const at = new Int32Array(count + 1);
  for (let i = 0; i < keys.length; i++) at[keys[i] + 1]++;
  for (let i = 0; i < count; i++) at[i + 1] += at[i];
  return at;
}

/** The trace, with what is looked up again and again. */
class Trace {
  /** @param {any} head */
  constructor(head) {
    this.head = head;
    this.end = Math.max(head.end, 1);
    this.begin = Math.min(head.begin, this.end - 1);
    this.groups = head.groups;
    const t = head.tables;
    this.strands = t.strands;
    this.calls = t.calls;
    this.pauses = t.pauses;
    this.runs = t.runs;
    this.events = t.events;
    this.functions = t.functions;
    this.cells = { calls: t.callCells, pauses: t.pauseCells, runs: t.runCells };
    /** @type {{calls: Summed, pauses: Summed, runs: Summed}} */
    this.held = head.held;
    const count = this.count = t.strands.rows;
    this.callsOf = starts(t.calls.strand, count);
    this.pausesOf = starts(t.pauses.strand, count);
    this.runsOn = starts(t.runs.thread.map((place) => place - 1), count);
    this.entries = new Map();
    this.eventsOf = new Map();
    for (let i = 0; i < t.events.rows; i++) {
      const of = this.eventsOf.get(t.events.strand[i]);
      if (of) of.push(i);
      else this.eventsOf.set(t.events.strand[i], [i]);
    }
    this.index();
  }

  index() {
    const { calls, count, runs, strands } = this;
    // Further rows of strands, by the first.
    this.further = new Map();
    const firsts = new Map();
    for (let s = 0; s < count; s++) {
      const key = `${this.group(s).process}/${strands.number[s] % 2 ** 32}`;
      if (strands.number[s] < 2 ** 32) firsts.set(key, s);
      else if (firsts.has(key)) {
        const first = firsts.get(key);
        this.further.set(first, [...this.further.get(first) || [], s]);
      }
    }
    // Lanes: the calls of one strand at one depth, which do not overlap.
    this.lanesOf = new Int32Array(count + 1);
    const from = [];
    for (let s = 0; s < count; s++) {
      this.lanesOf[s] = from.length;
      const end = this.callsOf[s + 1];
      for (let i = this.callsOf[s]; i < end; i++) {
        if (i === this.callsOf[s] || calls.depth[i] !== calls.depth[i - 1]) from.push(i);
      }
    }
    this.lanesOf[count] = from.length;
    from.push(calls.rows);
    this.laneFrom = Int32Array.from(from);
    // Runs by strand.
    const order = this.runOrder = Int32Array.from(runs.strand.keys());
    order.sort((a, b) => runs.strand[a] - runs.strand[b] || runs.from[a] - runs.from[b]);
    this.runsOf = starts(runs.strand.slice().sort(), count);
    this.cellsOf = {};
    for (const [name, cells] of Object.entries(this.cells)) {
      this.cellsOf[name] = starts(cells.row, count + this.groups.length);
    }
    this.nest();
  }

  /**
   * How many lanes are below each run on its thread: the calls and runs that it is within; and the
   * innermost of these runs, or -1.
   */
  nest() {
    const { runs } = this;
    this.base = new Int32Array(runs.rows);
    this.within = new Int32Array(runs.rows);
    for (let s = 0; s < this.count; s++) {
      const open = [];
      const end = this.runsOn[s + 1];
      for (let i = this.runsOn[s]; i < end; i++) {
        while (open.length && runs.from[open[open.length - 1]] + runs.time[open[open.length - 1]]
          <= runs.from[i]) open.pop();
        const outer = open.length ? open[open.length - 1] : -1;
        const below = outer < 0 ? 0 : this.base[outer] + 1;
        this.within[i] = outer;
        const on = outer < 0 ? s : runs.strand[outer];
        this.base[i] = below + (on === runs.strand[i] ? 0 : this.depthAt(on, runs.from[i]));
        open.push(i);
      }
    }
  }

  /** Calls of a strand that are open at a time, as far as they are kept. */
  depthAt(strand, time) {
    let depth = 0;
    for (let lane = this.lanesOf[strand]; lane < this.lanesOf[strand + 1]; lane++) {
      const i = this.callAt(lane, time);
      if (i >= 0) depth = this.calls.depth[i] + 1;
    }
    return depth;
  }

  /** The call of a lane that is open at a time, or -1. */
  callAt(lane, time) {
    const { from, time: lasts } = this.calls;
    const low = this.laneFrom[lane];
    const i = first(low, this.laneFrom[lane + 1], (i) => from[i] > time) - 1;
    return i >= low && from[i] + lasts[i] >= time ? i : -1;
  }

  /** The time from begin to end that calls of a strand took, of this depth, which began since a
      wait did: those of a signal's handler. They are callees of the function that waits. */
  calledWithin(strand, depth, since, begin, end) {
    const { from, time, depth: depths } = this.calls;
    let sum = 0;
    for (let lane = this.lanesOf[strand]; lane < this.lanesOf[strand + 1]; lane++) {
      const low = this.laneFrom[lane];
      if (depths[low] !== depth) continue;
      const high = this.laneFrom[lane + 1];
      for (let i = first(low, high, (i) => from[i] >= since); i < high && from[i] < end; i++) {
        sum += Math.max(Math.min(from[i] + time[i], end) - Math.max(from[i], begin), 0);
      }
    }
    return sum;
  }

  /** `calls shorter than 2 µs`: which are summed up; empty, if none are. */
  summed(what, thing) {
    const { threshold, count } = this.held[what];
    if (!count) return "";
    const things = plural(count, thing);
    const lacks = this.groups.some((group) => group.listed < group.strands);
    const of = lacks ? "of strands that are not listed" : "";
    if (!threshold) return `${things} ${of}`;
    return `${things} ${lacks ? `${of} or ` : ""}shorter than ${duration(threshold)}`;
  }

  /** All rows of a strand, or the further one that this is. */
  rowsOf(strand) { return [strand, ...this.further.get(strand) || []]; }
  /** Gives the pauses on all rows of a strand to a function. */
  eachPause(strand, take) {
    for (const row of this.rowsOf(strand)) {
      for (let i = this.pausesOf[row]; i < this.pausesOf[row + 1]; i++) take(i);
    }
  }
  /** Whether what this row has is a strand's that has another row. */
  isFurther(strand) { return this.strands.number[strand] >= 2 ** 32; }
  group(strand) { return this.groups[this.strands.group[strand]]; }
  kind(strand) { return this.group(strand).kind; }
  name(strand) { return this.group(strand).name; }
  process(strand) { return this.head.processes[this.group(strand).process]; }
  born(strand) { return this.strands.born[strand]; }
  isAlive(strand) { return !this.strands.died[strand]; }
  died(strand) {
    const died = this.strands.died[strand];
    return died ? this.born(strand) + died - 1 : this.end;
  }
  /** `#12`, of a thread the kernel's number; with several processes `#4711.1/12` of any strand, as
      the commands call it. */
  number(strand) {
    // A further row of a strand has more above these bits.
    const number = this.strands.number[strand] % 2 ** 32;
    if (this.head.processes.length > 1) return `#${this.process(strand).id}/${number}`;
    return this.kind(strand) === 0 ? String(this.strands.tid[strand]) : `#${number}`;
  }
  /** `coroutine work(int) #12`. */
  label(strand) {
    return `${KINDS[this.kind(strand)]} ${this.name(strand)} ${this.number(strand)}`;
  }
  /** `coroutine work(int)`, with several processes `coroutine work(int) of 4711.1`. */
  groupLabel(group) {
    const { processes } = this.head;
    const of = processes.length > 1 ? ` of ${processes[group.process].id}` : "";
    return `${KINDS[group.kind]} ${group.name}${of}`;
  }
  /** Of a place: 0 = nobody, then strands, then groups. */
  placeLabel(place) {
    if (!place) return "not known";
    if (place <= this.count) return this.label(place - 1);
    const group = this.groups[place - 1 - this.count];
    return `one of ${group.strands}: ${this.groupLabel(group)}`;
  }
  /** Whether who ran before `strand`, at a place, resumed it: where both may be fibers, another
      stack may have gone on in between, which nothing tells. */
  byOrAfter(strand, place) {
    if (!place) return "by";
    const { count } = this;
    const before = place <= count ? this.kind(place - 1) : this.groups[place - 1 - count].kind;
    const calls = KINDS[this.kind(strand)] === "coroutine";
    return KINDS[before] === "fiber" && !calls ? "after" : "by";
  }
  /** The outermost function of a thread that took longest, if its call is kept. */
  entry(strand) {
    const known = this.entries.get(strand);
    if (known !== undefined) return known;
    const { calls } = this;
    let longest = -1;
    for (let i = this.callsOf[strand]; i < this.callsOf[strand + 1] && !calls.depth[i]; i++) {
      if (longest < 0 || calls.time[i] > calls.time[longest]) longest = i;
    }
    const name = longest < 0 ? "" : this.function(calls.function[longest]);
    this.entries.set(strand, name);
    return name;
  }
  function(index) { return this.head.functions[index] ? this.head.functions[index][0] : "?"; }
  module(index) { return this.head.functions[index] ? this.head.functions[index][1] : "?"; }
  text(index) { return this.head.texts[index] || ""; }
  /** The run of a strand that is on at a time, or -1. */
  runAt(strand, time) {
    const { runs, runOrder } = this;
    const low = this.runsOf[strand];
    const at = first(low, this.runsOf[strand + 1], (k) => runs.from[runOrder[k]] > time) - 1;
    if (at < low) return -1;
    const run = runOrder[at];
    return runs.from[run] + runs.time[run] >= time ? run : -1;
  }
}
