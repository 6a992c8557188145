/** `1.234 ms`: four digits, and the unit. */
function duration(ns) {
  // Cut, not rounded, as by the other commands: nothing looks longer than it was.
  if (ns >= 1e12) return `${counted(Math.floor(ns / 1e9))} s`;
  const units = [["s", 1e9], ["ms", 1e6], ["µs", 1e3]];
  for (const [unit, size] of /** @type {[string, number][]} */ (units)) {
    if (ns >= size) {
      const value = ns / size;
      const digits = value >= 100 ? 1 : value >= 10 ? 2 : 3;
      const least = size / 10 ** digits;
      return `${(Math.floor(ns / least) / 10 ** digits).toFixed(digits)} ${unit}`;
    }
  }
  return `${Math.floor(ns)} ns`;
}

/** `12 345`. */
function counted(number) {
  return String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

function plural(number, thing) {
  return `${counted(number)} ${thing}${number === 1 ? "" : "s"}`;
}

/** An element with attributes and children; text is always text. */
function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child !== undefined && child !== null));
  return node;
}

/** @returns {any} */
function byId(id) { return document.getElementById(id); }
