/** A lane of calls, and the strip that says whether a strand runs. */
const LANE = 15;
const STRIP = 7;
const PAD = 5;
/** Lanes of a row: of one that is opened, and of others. */
const MOST_LANES = 64;
const FEW_LANES = 7;
const GROUP_HEIGHT = 30;
/** A group of at most so many strands is open at first. */
const FEW = 8;

/**
 * @typedef {{type: string, strand: number, group?: any, indent: number, lanes: number,
 *   strip: boolean, height: number, deeper?: number, open?: boolean, hosts?: boolean}} Row
 */

/** Which rows there are, from top to bottom. */
class Rows {
  /** @param {Trace} trace */
  constructor(trace) {
    this.trace = trace;
    this.mode = "both";
    this.by = "name";
    this.opened = new Map();
    /** Strands whose rows show all lanes. */
    this.tall = new Set();
    const { count } = trace;
    this.threads = [];
    for (let s = 0; s < count; s++) if (trace.kind(s) === 0) this.threads.push(s);
    // A program without other strands has rows of threads alone.
    this.hasStrands = this.threads.length < count || trace.groups.some((g) => g.kind !== 0);
    this.depths = new Int32Array(count);
    for (let s = 0; s < count; s++) {
      const last = trace.callsOf[s + 1] - 1;
      this.depths[s] = last >= trace.callsOf[s] ? trace.calls.depth[last] + 1 : 0;
    }
    const { calls, runs } = trace.cells;
    const deepest = (row, depth) => {
      if (row < count) this.depths[row] = Math.max(this.depths[row], depth + 1);
    };
    for (let i = 0; i < calls.rows; i++) deepest(calls.row[i], calls.depth[i]);
    // What a thread hosts lies on its own calls.
    this.hosted = this.depths.slice();
    this.hosts = new Uint8Array(count);
    const { runs: all } = trace;
    for (let i = 0; i < all.rows; i++) {
      const thread = all.thread[i] - 1;
      const depth = trace.base[i] + this.depths[all.strand[i]];
      this.hosted[thread] = Math.max(this.hosted[thread], depth);
      this.hosts[thread] = 1;
    }
    for (let i = 0; i < runs.rows; i++) if (runs.row[i] < count) this.hosts[runs.row[i]] = 1;
    this.grouped = new Map();
    this.build();
  }

  /** Groups of strands that are no threads. */
  groups() {
    const { trace } = this;
    const key = this.by;
    const known = this.grouped.get(key);
    if (known) return known;
    const groups = new Map();
    const add = (id, make) => {
      if (!groups.has(id)) groups.set(id, make());
      return groups.get(id);
    };
    if (this.by === "name") {
      trace.groups.forEach((group, index) => {
        if (group.kind === 0) return;
        const processes = trace.head.processes;
        const of = processes.length > 1 ? ` (${processes[group.process].id})` : "";
        add(`n${index}`, () => ({
          id: `n${index}`, index, members: [], strands: group.strands, listed: group.listed,
          label: `${group.name}${of}`, kind: KINDS[group.kind],
        }));
      });
    }
    for (let s = 0; s < trace.count; s++) {
      if (trace.kind(s) === 0) continue;
      if (this.by === "name") groups.get(`n${trace.strands.group[s]}`).members.push(s);
      else {
        const parent = trace.strands.parent[s];
        const number = trace.strands.parentNumber[s];
        const process = trace.group(s).process;
        const maker = parent ? trace.label(parent - 1) : number ? `strand #${number}` : "not known";
        const group = add(`m${process}/${parent}/${parent ? 0 : number}`, () => ({
          id: `m${process}/${parent}/${number}`, index: -1, members: [], strands: 0, listed: 0,
          label: `made by ${maker}`, kind: "strand", maker: parent,
        }));
        group.members.push(s);
        group.strands++;
        group.listed++;
      }
    }
    const all = [...groups.values()];
    this.grouped.set(key, all);
    return all;
  }

  build() {
    const { trace } = this;
    /** @type {Row[]} */
    const rows = [];
    const most = (s) => this.tall.has(s) ? MOST_LANES : FEW_LANES;
    const strand = (s, indent) => {
      const lanes = Math.min(this.depths[s], most(s));
      rows.push({ type: "strand", strand: s, indent, lanes, strip: true,
        deeper: this.depths[s] - lanes, height: STRIP + lanes * LANE + PAD });
    };
    const thread = (s) => {
      const hosts = this.hosts[s] === 1;
      const all = this.mode === "strands" ? this.depths[s] : this.hosted[s];
      const lanes = Math.min(all, most(s));
      rows.push({ type: "thread", strand: s, indent: 0, lanes, strip: true, deeper: all - lanes,
        height: Math.max(STRIP + lanes * LANE + PAD, 20), hosts });
    };
    for (const s of this.threads) thread(s);
    if (this.mode !== "threads") {
      for (const group of this.groups()) {
        if (group.strands === 1 && group.members.length === 1 && this.by === "name") {
          strand(group.members[0], 0);
          continue;
        }
        const opened = this.opened.get(group.id);
        const open = opened === undefined ? group.members.length <= FEW : opened;
        rows.push({ type: "group", strand: -1, group, indent: 0, lanes: 0, strip: false, open,
          height: GROUP_HEIGHT });
        if (open) for (const s of group.members) strand(s, 1);
      }
    }
    this.rows = rows;
    this.tops = new Float64Array(rows.length + 1);
    rows.forEach((row, i) => { this.tops[i + 1] = this.tops[i] + row.height; });
    this.of = new Map();
    rows.forEach((row, i) => { if (row.strand >= 0) this.of.set(row.strand, i); });
  }

  get height() { return this.tops[this.rows.length]; }

  /** The row at a distance from the top. */
  at(y) {
    const i = first(0, this.rows.length, (i) => this.tops[i + 1] > y);
    return Math.min(i, this.rows.length - 1);
  }

  /** Opens or closes a group, or the lanes of a strand that are not shown. */
  toggle(i) {
    const row = this.rows[i];
    if (!row) return false;
    if (row.type === "group") this.opened.set(row.group.id, !row.open);
    else if (this.tall.has(row.strand)) this.tall.delete(row.strand);
    else if (row.deeper > 0) this.tall.add(row.strand);
    else return false;
    this.build();
    return true;
  }

  /** Has the strand's row be there, and gives its index; -1, if it has none in this mode. */
  show(strand) {
    if (!this.of.has(strand) && this.mode !== "threads") {
      const group = this.groups().find((group) => group.members.includes(strand));
      if (group) {
        this.opened.set(group.id, true);
        this.build();
      }
    }
    return this.of.has(strand) ? this.of.get(strand) : -1;
  }
}
