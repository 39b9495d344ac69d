// The page of a tracker.
import { byId, bytes, element, follow, plural, rate, setText, shorten, sync } from "./common.js";

const ask = follow(show, () => {});
let before = null; // whole nodes of the swarm at the last event
let shown = ""; // the swarm that is shown

byId("swarm").addEventListener("change", (e) => ask(e.target.value));

function show(fleet) {
  setText(byId("node"), `Tracker …${fleet.id.slice(-8)}, version ${fleet.version}. ${plural(fleet.swarms, "swarm")}, ${plural(fleet.nodes, "member")}.`);
  const any = fleet.largest.length > 0;
  byId("none").hidden = any;
  for (const id of ["pick", "figures", "fleet"]) byId(id).hidden = !any;
  sync(byId("swarm"), fleet.largest, (s) => s.id, () => element("option"), (option, s) => {
    option.value = s.id;
    setText(option, `${shorten(s.id)}: ${plural(s.nodes, "node")} in ${plural(s.clusters, "cluster")}, ${s.whole} whole`);
  });
  if (document.activeElement !== byId("swarm")) byId("swarm").value = fleet.swarm;
  if (!any) return;
  const sites = fleet.sites || fleet.clusters;
  const sum = (f) => sites.reduce((n, c) => n + f(c), 0);
  const nodes = sum((c) => c.nodes);
  const pieces = fleet.largest.find((s) => s.id === fleet.swarm)?.pieces || 0;
  const whole = sum((c) => c.whole);
  setText(byId("nodes"), String(nodes));
  setText(byId("whole"), String(whole));
  setText(byId("wan"), rate(sum((c) => foreign(c).reduce((n, f) => n + f.rate, 0))));
  setText(byId("copies"), Math.max(0, ...fleet.clusters.concat(fleet.sites || []).map((c) => c.copies)).toFixed(2));
  byId("more").hidden = !fleet.more;
  if (fleet.more) setText(byId("more"), `and ${plural(fleet.more, "cluster")} more`);
  sync(byId("clusters"), withRacks(fleet), (c) => c.name, makeCluster, (box, c) => updateCluster(box, c, pieces));
  drawMap(sites);
  if (before !== null && shown === fleet.swarm && whole > before) setText(byId("news"), `${whole} of ${nodes} nodes are whole`);
  before = whole;
  shown = fleet.swarm;
}

// withRacks are the clusters, each site before its racks.
function withRacks(fleet) {
  if (!fleet.sites) return fleet.clusters;
  const racks = (s) => fleet.clusters.filter((c) => c.name.startsWith(`${s.name}/`));
  return fleet.sites.flatMap((s) => [s, ...racks(s)]);
}

// foreign are the flows from other clusters.
function foreign(c) {
  return c.flows.filter((f) => f.from !== c.name);
}

function makeCluster() {
  const box = element("li");
  const bar = element("progress");
  bar.max = 1;
  const row = element("div", "row");
  row.append(element("h3"), element("span", "phase"));
  box.append(row, bar, element("p", "numbers"), element("ul", "flows"), element("p", "warn quiet"));
  return box;
}

function updateCluster(box, c, pieces) {
  const part = (selector) => box.querySelector(selector);
  setText(part("h3"), c.name);
  const done = c.whole === c.nodes;
  setText(part(".phase"), done ? "Whole" : `${c.nodes - c.whole} missing`);
  part(".phase").className = `phase ${done ? "whole" : "fetching"}`;
  const bar = part("progress");
  bar.value = 1 - c.missing / Math.max(c.nodes * pieces, 1);
  const percent = Math.floor(100 * bar.value);
  bar.setAttribute("aria-label", `${c.name}: ${percent} %`);
  setText(part(".numbers"), `${c.whole} of ${plural(c.nodes, "node")} whole · ${percent}\u00a0% · ${c.copies.toFixed(2)}\u00a0copies`);
  sync(part(".flows"), c.flows, (f) => f.from, () => {
    const item = element("li");
    item.append(element("span"), element("span"));
    return item;
  }, (item, f) => {
    setText(item.children[0], f.from === c.name ? "within" : `from ${f.from}`);
    setText(item.children[1], f.rate > 0 ? `${bytes(f.bytes)}, ${rate(f.rate)}` : bytes(f.bytes));
  });
  const late = part(".warn");
  late.hidden = !c.stragglers;
  if (c.stragglers) {
    setText(late, `Far behind: ${c.stragglers.map((s) => `…${s.id.slice(-8)} (${Math.floor((100 * s.have) / Math.max(pieces, 1))} %)`).join(", ")}`);
    late.title = c.stragglers.map((s) => s.id).join(" ");
  }
}

// The map has the clusters on an ellipse, and an arrow for each flow between two of them.
const width = 900;
const height = 420;
const box = { width: 172, height: 62 };
const maxMap = 12; // more clusters would be a tangle: the boxes below tell

function svg(name, attributes, text) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  if (text !== undefined) e.textContent = text;
  return e;
}

function drawMap(clusters) {
  const map = byId("map");
  map.classList.toggle("none", clusters.length < 2 || clusters.length > maxMap);
  if (clusters.length < 2 || clusters.length > maxMap) return;
  const tall = clusters.length > 2 ? height : 200;
  map.setAttribute("viewBox", `0 0 ${width} ${tall}`);
  const center = { x: width / 2, y: tall / 2 };
  const at = new Map(clusters.map((c, i) => {
    const angle = Math.PI + (2 * Math.PI * i) / clusters.length;
    return [c.name, {
      x: center.x + Math.cos(angle) * (center.x - box.width / 2 - 4),
      y: center.y + Math.sin(angle) * (center.y - box.height / 2 - 4),
    }];
  }));
  const flows = clusters.flatMap((c) => foreign(c).map((f) => ({ ...f, to: c.name })));
  const most = Math.max(1, ...flows.map((f) => f.bytes));
  const parts = [markers()];
  const labels = [];
  for (const f of flows) {
    const arrow = between(at.get(f.from), at.get(f.to));
    const busy = f.rate > 0;
    const thick = 1.5 + 5 * Math.sqrt(f.bytes / most);
    const path = svg("path", {
      d: `M${arrow.from.x} ${arrow.from.y} Q${arrow.mid.x} ${arrow.mid.y} ${arrow.to.x} ${arrow.to.y}`,
      class: busy ? "busy" : "", "stroke-width": thick.toFixed(1), "marker-end": `url(#${busy ? "busy" : "idle"})`,
    });
    parts.push(path);
    labels.push(svg("text", { class: "rate", x: arrow.label.x, y: arrow.label.y }, busy ? rate(f.rate) : bytes(f.bytes)));
  }
  for (const c of clusters) {
    const { x, y } = at.get(c.name);
    const g = svg("g", { class: c.whole === c.nodes ? "whole" : "" });
    const name = c.name.length > 16 ? `${c.name.slice(0, 15)}…` : c.name;
    g.append(
      svg("rect", { x: x - box.width / 2, y: y - box.height / 2, width: box.width, height: box.height, rx: 10 }),
      svg("text", { x, y: y - 6 }, name),
      svg("text", { x, y: y + 15, class: "small" }, `${c.whole}/${c.nodes} whole · ${c.copies.toFixed(2)} copies`),
    );
    parts.push(g);
  }
  map.replaceChildren(...parts, ...labels);
  const text = flows.map((f) => `${f.from} to ${f.to}: ${bytes(f.bytes)}${f.rate > 0 ? `, ${rate(f.rate)}` : ""}`).join("; ");
  map.setAttribute("aria-label", `Flows between clusters. ${text || "None yet."}`);
}

function markers() {
  const defs = svg("defs", {});
  for (const id of ["busy", "idle"]) {
    const marker = svg("marker", {
      id, class: id, viewBox: "0 0 10 10", refX: 8, refY: 5, markerWidth: 11, markerHeight: 11, markerUnits: "userSpaceOnUse", orient: "auto",
    });
    marker.append(svg("path", { d: "M0 0L10 5L0 10z" }));
    defs.append(marker);
  }
  return defs;
}

// between is a bent line from the edge of one box to that of another. Its bend keeps the two directions apart.
function between(a, b) {
  const dx = b.x - a.x;
  const dy = b.y - a.y;
  const length = Math.hypot(dx, dy) || 1;
  const bend = Math.min(40, length / 6);
  const side = { x: (-dy / length) * bend, y: (dx / length) * bend };
  const mid = { x: (a.x + b.x) / 2 + side.x, y: (a.y + b.y) / 2 + side.y };
  return {
    from: edge(a, mid), to: edge(b, mid), mid,
    label: { x: (a.x + b.x) / 2 + side.x * 0.75, y: (a.y + b.y) / 2 + side.y * 0.75 + 4 },
  };
}

// edge is where the line from the middle of a box to a point leaves the box.
function edge(from, to) {
  const dx = to.x - from.x;
  const dy = to.y - from.y;
  const gap = 6;
  const scale = Math.min(
    dx ? (box.width / 2 + gap) / Math.abs(dx) : Infinity,
    dy ? (box.height / 2 + gap) / Math.abs(dy) : Infinity,
    1,
  );
  return { x: from.x + dx * scale, y: from.y + dy * scale };
}
