/** How many of a group's strands live and wait, over time: computed once a group. */
function crowd(trace, group) {
  if (group.bins) return group.bins;
  const count = 1024;
  const step = trace.end / count;
  const alive = new Float64Array(count + 1);
  const waits = WHY.map(() => new Float64Array(count + 1));
  // Adds the part of each bin that lies between two times.
  const add = (sums, from, to) => {
    const a = Math.min(Math.floor(from / step), count - 1);
    const b = Math.min(Math.floor(to / step), count - 1);
    if (b - a > 64) {
      for (let i = a; i <= b; i++) sums[i] += 1;
      return;
    }
    for (let i = a; i <= b; i++) {
      sums[i] += (Math.min(to, (i + 1) * step) - Math.max(from, i * step)) / step;
    }
  };
  for (const s of group.members) {
    add(alive, trace.born(s), trace.died(s));
    for (let i = trace.pausesOf[s]; i < trace.pausesOf[s + 1]; i++) {
      const { pauses } = trace;
      add(waits[pauses.why[i]], pauses.from[i], pauses.from[i] + pauses.time[i]);
    }
  }
  // What is summed up counts where it begins and where it ends.
  const row = trace.count + group.index;
  const { pauses: cells } = trace.cells;
  const { width } = trace.held.pauses;
  if (group.index >= 0) {
    const now = new Float64Array(18);
    let before = 0;
    const addMany = (sums, from, to, many) => {
      const last = Math.min(Math.floor(to / step), count - 1);
      for (let bin = Math.floor(from / step); bin <= last; bin++) {
        const part = Math.min(to, (bin + 1) * step) - Math.max(from, bin * step);
        sums[bin] += (many * Math.max(part, 0)) / step;
      }
    };
    const until = (/** @type {number} */ time) => {
      const to = Math.min(time, trace.end);
      for (let why = 0; why < WHY.length; why++) {
        const many = now[why] - now[8 + why];
        if (many > 0) addMany(waits[why], before, to, many);
      }
      if (now[16] > now[17]) addMany(alive, before, to, now[16] - now[17]);
      before = to;
    };
    for (let i = trace.cellsOf.pauses[row]; i < trace.cellsOf.pauses[row + 1]; i++) {
      const time = (cells.column[i] + 0.5) * width;
      if (time > before) until(time);
      now[cells.what[i]] += cells.count[i];
    }
    until(trace.end);
  }
  let most = 1e-9;
  for (let i = 0; i < count; i++) {
    most = Math.max(most, alive[i], waits.reduce((sum, of) => sum + of[i], 0));
  }
  group.bins = { count, alive, waits, most };
  return group.bins;
}
