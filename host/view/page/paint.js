/** Okabe and Ito's colours, which people see apart whatever their eyes: for functions, as tints. */
const HUES = ["#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#f0e442", "#0072b2", "#d55e00",
  "#8c8c8c"];
/** For why strands do not run; each has a pattern too. */
const WHY_HUES = ["#8a8f98", "#d55e00", "#0072b2", "#009e73", "#e69f00"];
/** Dots, strokes and so on: drawn in 8 × 8 pixels. */
const WHY_MARKS = ["dots", "strokes", "grid", "waves", "back"];

function mixed(a, b, share) {
  const part = (hex, i) => parseInt(hex.slice(1 + 2 * i, 3 + 2 * i), 16);
  const mix = (i) => Math.round(part(a, i) * share + part(b, i) * (1 - share));
  return `rgb(${mix(0)},${mix(1)},${mix(2)})`;
}

/** Colours and patterns in the scheme of the page. */
class Paint {
  /** @param {Trace} trace @param {CanvasRenderingContext2D} context */
  constructor(trace, context) {
    this.trace = trace;
    this.context = context;
    this.refresh();
  }

  refresh() {
    const style = getComputedStyle(document.documentElement);
    const value = (name) => style.getPropertyValue(name).trim();
    this.bg = value("--bg");
    this.fg = value("--fg");
    this.soft = value("--soft");
    this.rule = value("--rule");
    this.panel = value("--panel");
    this.link = value("--link");
    this.mark = value("--mark");
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    this.tints = HUES.map((hue) => mixed(hue, this.bg, dark ? 0.42 : 0.5));
    this.edges = HUES.map((hue) => mixed(hue, this.fg, 0.7));
    this.whyTints = WHY_HUES.map((hue) => mixed(hue, this.bg, dark ? 0.3 : 0.22));
    this.whySolid = WHY_HUES.map((hue) => mixed(hue, this.fg, dark ? 0.75 : 0.85));
    this.patterns = WHY_HUES.map((_, why) => this.pattern(why));
    this.hueOf = this.trace.head.functions.map(([name]) => {
      let hash = 7;
      for (let i = 0; i < name.length; i++) hash = (hash * 31 + name.charCodeAt(i)) | 0;
      return (hash >>> 3) % HUES.length;
    });
    this.hueOfGroup = this.trace.groups.map((_, i) => i % HUES.length);
  }

  pattern(why) {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 8;
    const c = /** @type {CanvasRenderingContext2D} */ (tile.getContext("2d"));
    c.fillStyle = this.whyTints[why];
    c.fillRect(0, 0, 8, 8);
    c.strokeStyle = c.fillStyle = this.whySolid[why];
    c.globalAlpha = 0.55;
    c.beginPath();
    switch (WHY_MARKS[why]) {
      case "dots":
        c.fillRect(1, 1, 1, 1);
        c.fillRect(5, 5, 1, 1);
        break;
      case "strokes":
        for (const x of [-8, 0, 8]) c.moveTo(x, 8), c.lineTo(x + 8, 0);
        break;
      case "back":
        for (const x of [-8, 0, 8]) c.moveTo(x, 0), c.lineTo(x + 8, 8);
        break;
      case "grid":
        c.moveTo(0, 4.5), c.lineTo(8, 4.5), c.moveTo(4.5, 0), c.lineTo(4.5, 8);
        break;
      default:
        c.moveTo(0, 2.5), c.lineTo(8, 2.5), c.moveTo(0, 6.5), c.lineTo(8, 6.5);
    }
    c.stroke();
    return /** @type {CanvasPattern} */ (this.context.createPattern(tile, "repeat"));
  }

  /** The legend's picture of a reason. */
  swatch(why) {
    const node = /** @type {HTMLCanvasElement} */ (el("canvas", { width: 24, height: 12 }));
    const c = /** @type {CanvasRenderingContext2D} */ (node.getContext("2d"));
    c.fillStyle = this.patterns[why];
    c.fillRect(0, 0, 24, 12);
    c.fillStyle = this.whySolid[why];
    c.fillRect(0, 0, 2, 12);
    return node;
  }
}
