// The page of a node.
import { byId, bytes, call, duration, element, follow, percent, plural, rate, setText, shorten, sync } from "./common.js";

const phases = {
  seeking: "Looking for it",
  checking: "Checking",
  fetching: "Fetching",
  whole: "Whole",
  stopped: "Stopped",
  failed: "Failed",
};

let owner = false;
let cluster = ""; // the node's
let open = ""; // the id of the transfer whose peers are shown
let before = null; // the phases of the last event, by id

const ask = follow(show, (hello) => {
  owner = hello.owner;
  for (const e of document.querySelectorAll(".owner")) e.hidden = !owner;
  byId("readonly").hidden = owner;
});

function show(node) {
  cluster = node.cluster;
  setText(byId("cluster"), cluster);
  setText(byId("node"), `Node …${node.id.slice(-8)}, version ${node.version}`);
  document.title = `mob ${node.cluster}`;
  setText(byId("wan-in"), rate(node.rate.wan_in));
  setText(byId("wan-out"), rate(node.rate.wan_out));
  setText(byId("lan-in"), rate(node.rate.lan_in));
  setText(byId("lan-out"), rate(node.rate.lan_out));
  byId("none").hidden = node.transfers.length > 0;
  byId("more").hidden = !node.more;
  if (node.more) setText(byId("more"), `and ${node.more} more: mob ls shows all`);
  sync(byId("transfers"), node.transfers, (t) => t.id, makeTransfer, (card, t) => updateTransfer(card, t, node.peers));
  byId("alone").hidden = node.clusters.length > 0;
  sync(byId("clusters"), node.clusters, (c) => c.name, makeCluster, updateCluster);
  showFeeds(node.feeds || []);
  showLimits(node.limits);
  tell(node.transfers);
}

// site is the first part of a cluster's name.
function site(name) {
  return name.split("/")[0];
}

// tell says what has changed, for who does not see it.
function tell(transfers) {
  const now = new Map(transfers.map((t) => [t.id, t.phase]));
  if (before) {
    const news = transfers
      .filter((t) => before.get(t.id) !== t.phase)
      .map((t) => `${title(t)}: ${phases[t.phase] || t.phase}`);
    if (news.length) setText(byId("news"), news.join(". "));
  }
  before = now;
}

function title(t) {
  return t.name || shorten(t.id);
}

function makeTransfer(t) {
  const card = element("li");
  const row = element("div", "row");
  row.append(element("h3"), element("span", "phase"));
  const bar = element("progress");
  bar.max = 100;
  const buttons = element("div", "buttons");
  const peers = element("button", "show-peers", "Peers");
  peers.type = "button";
  peers.setAttribute("aria-expanded", "false");
  peers.addEventListener("click", () => {
    open = open === t.id ? "" : t.id;
    ask(open);
  });
  const verify = element("button", "verify", "Verify");
  verify.type = "button";
  verify.addEventListener("click", () => verifyTransfer(card, verify, t.id));
  const stop = element("button", "stop", "Stop");
  stop.type = "button";
  stop.addEventListener("click", () => act(card, () => call("/v1/stop", { name: t.id }), "Stopped"));
  buttons.append(peers, verify, stop);
  const answer = element("p", "answer");
  answer.setAttribute("role", "status");
  const table = element("div", "scroll");
  table.hidden = true;
  table.tabIndex = 0;
  table.setAttribute("role", "region");
  card.append(row, bar, element("p", "numbers"), element("p", "quiet path"), element("p", "note"), buttons, answer, table);
  return card;
}

function updateTransfer(card, t, peers) {
  const part = (selector) => card.querySelector(selector);
  const name = title(t);
  setText(part("h3"), name);
  const phase = part(".phase");
  setText(phase, state(t));
  phase.className = `phase ${t.phase}`;
  const bar = part("progress");
  const known = t.length >= 0;
  const done = known ? percent(t.have, t.length) : 0;
  bar.hidden = !known || t.phase === "whole";
  bar.value = known && t.length > 0 ? (100 * t.have) / t.length : done;
  bar.setAttribute("aria-label", `${name}: ${done} %`);
  setText(part(".numbers"), numbers(t, done));
  setText(part(".path"), t.root);
  const note = part(".note");
  setText(note, t.error || waiting(t) || damage(t) || isolated(t));
  note.className = `note quiet ${t.error || damage(t) ? "bad" : "warn"}`;
  note.hidden = !note.textContent;
  part(".stop").hidden = !owner || t.phase === "stopped" || t.phase === "failed";
  part(".verify").hidden = !owner || !known;
  part(".stop").setAttribute("aria-label", `Stop ${name}`);
  part(".verify").setAttribute("aria-label", `Verify ${name}`);
  const toggle = part(".show-peers");
  setText(toggle, plural(t.connected, "peer"));
  toggle.setAttribute("aria-expanded", String(open === t.id));
  toggle.setAttribute("aria-label", `${plural(t.connected, "peer")} of ${name}`);
  const table = part(".scroll");
  table.hidden = open !== t.id;
  table.setAttribute("aria-label", `Peers of ${name}`);
  if (open === t.id && peers) showPeers(table, peers, t.pieces);
}

// state names the state of a transfer, as mob ls does.
function state(t) {
  if (t.phase !== "whole") return phases[t.phase] || t.phase;
  if (t.away) return "Away";
  if (t.more_different) return "Changed";
  return t.seed ? "Seeding" : phases.whole;
}

// damage describes how the files differ from the content.
function damage(t) {
  if (t.damaged) return plural(t.damaged, "damaged piece");
  if (t.away) return "Not at its path any more";
  return t.more_different ? `${plural(t.more_different, "file")} changed or removed` : "";
}

function waiting(t) {
  if (!t.waiting) return "";
  return t.phase === "seeking" ? t.waiting : `Waits for ${t.waiting}`;
}

function isolated(t) {
  const i = t.isolation;
  if (!i) return "";
  const comes = t.phase === "whole" ? "came" : "comes";
  return `${plural(i.known, "member")} of cluster ${i.cluster} ${i.known === 1 ? "is" : "are"} known, none can be reached: everything ${comes} over the WAN; last error: ${i.error}`;
}

function roundTrip(ms) {
  if (!(ms > 0)) return "–";
  return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
}

function numbers(t, done) {
  const parts = [];
  if (t.phase === "whole") {
    parts.push(bytes(t.length));
  } else if (t.length >= 0) {
    parts.push(`${done} %`, `${bytes(t.have)} of ${bytes(t.length)}`);
  }
  const levels = t.levels || [];
  const flow = [
    ["from WAN", t.rate.wan_in],
    ...(levels.length ? levels.map((l) => [`from ${l.group}`, l.in_rate]) : [["from LAN", t.rate.lan_in]]),
    ["to WAN", t.rate.wan_out],
    ...(levels.length ? levels.map((l) => [`to ${l.group}`, l.out_rate]) : [["to LAN", t.rate.lan_out]]),
  ].filter(([, n]) => n > 0).map(([what, n]) => `${rate(n)} ${what}`);
  parts.push(...flow);
  const speed = t.rate.wan_in + t.rate.lan_in;
  if (t.phase === "fetching" && speed > 0 && t.length > t.have) parts.push(`${duration((t.length - t.have) / speed)} left`);
  if (t.phase === "whole" && !t.seed && t.traffic.wan_in + t.traffic.lan_in > 0) {
    const near = levels.length ? levels.map((l) => `${bytes(l.in)} from ${l.group}`).join(", ") : `${bytes(t.traffic.lan_in)} from LAN`;
    parts.push(`${bytes(t.traffic.wan_in)} came from WAN, ${near}`, `in ${duration(t.elapsed_ns / 1e9)}`);
  }
  return parts.join(" · ");
}

// tableBody returns the body of the table in box, which it makes if there is none, with columns of a name and a class.
function tableBody(box, columns) {
  let body = box.querySelector("tbody");
  if (!body) {
    const table = element("table");
    const head = element("tr");
    for (const [name, className] of columns) {
      const th = element("th", className, name);
      th.scope = "col";
      head.append(th);
    }
    const thead = element("thead");
    thead.append(head);
    body = element("tbody");
    table.append(thead, body);
    box.append(table);
  }
  return body;
}

// showFeeds shows a row for each feed, and one for each follower of a feed that the node publishes.
function showFeeds(feeds) {
  const box = byId("feeds");
  box.hidden = feeds.length === 0;
  const rows = feeds.flatMap((f, i) => [
    {
      key: String(i),
      text: [f.name, f.follows ? "followed" : "published", f.complete, f.newest - f.complete, f.follows ? bytes(f.saved) : "", f.error || ""],
    },
    ...(f.followers || []).map((r) => ({
      key: `${i} ${r.id}`,
      text: ["", `…${r.id.slice(-8)} of ${r.cluster}`, r.complete || "–", r.complete ? Math.max(0, f.newest - r.complete) : "–", bytes(r.saved), ""],
    })),
  ]);
  const body = tableBody(box.querySelector(".scroll"), [["Feed"], ["Node"], ["Version", "number"], ["Behind", "number"], ["Not fetched", "number"], ["State"]]);
  sync(body, rows, (r) => r.key, () => {
    const row = element("tr");
    for (const c of ["", "", "number", "number", "number", "bad"]) row.append(element("td", c));
    return row;
  }, (row, r) => r.text.forEach((value, i) => setText(row.children[i], String(value))));
}

function showPeers(box, peers, pieces) {
  const body = tableBody(box, [["Cluster"], ["Peer"], ["Has", "number"], ["Receiving", "number"], ["Round trip", "number"], ["State"]]);
  sync(body, peers, (p) => p.id, () => {
    const row = element("tr");
    for (const c of ["", "id", "number", "number", "number", ""]) row.append(element("td", c));
    return row;
  }, (row, p) => {
    const text = [
      p.local ? `${p.cluster} (own)` : p.cluster,
      p.client || `…${p.id.slice(-8)}`,
      `${Math.floor((100 * p.have) / Math.max(pieces, 1))} %`,
      rate(p.rate),
      roundTrip(p.rtt_ns / 1e6),
      p.stalled ? "stalled" : "",
    ];
    text.forEach((value, i) => setText(row.children[i], value));
    row.children[1].title = p.id;
    row.children[5].className = p.stalled ? "warn" : "";
  });
}

function makeCluster() {
  const box = element("li");
  box.append(element("h3"), element("p", "numbers"), element("p", "quiet"));
  return box;
}

function updateCluster(box, c) {
  box.className = c.local ? "own" : "";
  setText(box.children[0], c.name);
  setText(box.children[1], `${plural(c.peers, "peer")}${c.rate > 0 ? ` · ${rate(c.rate)} from it` : ""}`);
  setText(box.children[2], [c.local ? "This node’s cluster" : site(c.name) === site(cluster) ? "This node’s site" : "", c.stalled ? `${c.stalled} stalled` : ""].filter(Boolean).join(" · "));
}

// act does something and says what came of it.
async function act(box, what, done) {
  const answer = box.querySelector(".answer");
  try {
    const result = await what();
    answer.className = "answer quiet";
    setText(answer, typeof done === "function" ? done(result) : done);
    return true;
  } catch (error) {
    answer.className = "answer bad";
    setText(answer, error.message);
    return false;
  }
}

function verifyTransfer(card, button, id) {
  setText(card.querySelector(".answer"), "");
  button.disabled = true;
  act(card, () => call("/v1/verify", { name: id }, (event) => {
    if (event.total) setText(button, `Verifying ${percent(event.hashed || 0, event.total)} %`);
    return false;
  }), verdict).finally(() => {
    button.disabled = false;
    setText(button, "Verify");
  });
}

function verdict(event) {
  const v = event.verification || {};
  const count = (list) => (list ? list.count || 0 : 0);
  const differ = (v.different || []).length + (v.more_different || 0);
  const found = ["damaged", "missing", "unreadable"].map((what) => count(v[what]) && `${plural(count(v[what]), "piece")} ${what}`);
  return [...found, differ && `${plural(differ, "file")} changed or removed`].filter(Boolean).join(", ") || "Verified: every stored piece is sound";
}

byId("get").addEventListener("submit", (e) => {
  e.preventDefault();
  const form = e.target;
  const request = { link: form.link.value.trim(), path: form.path.value.trim() };
  // A get goes on when its client leaves: the first answer with a transfer is enough.
  act(form, () => call("/v1/get", request, (event) => Boolean(event.status && event.status.id)), "Started").then((ok) => {
    if (ok) form.reset();
  });
});

// What the limits are called, by their names in flags and in JSON.
const limits = [
  ["wan-down", "wan_down", "From WAN"],
  ["wan-up", "wan_up", "To WAN"],
  ["lan-up", "lan_up", "To LAN"],
  ["cluster-wan-down", "cluster_wan_down", "Whole site, from WAN"],
];

let inForce = {};

function showLimits(now) {
  const form = byId("limit");
  for (const [, key] of limits) {
    // What the user types is left alone.
    const value = now[key] ? String(now[key] / 1e6) : "";
    if (now[key] !== inForce[key] && document.activeElement !== form[key]) form[key].value = value;
  }
  inForce = now;
  const set = (now.settings || []).filter((s) => s.rate > 0);
  byId("unlimited").hidden = set.length > 0;
  sync(byId("limits"), set, (s) => s.name, () => element("li"), (item, s) => {
    const named = limits.find(([name]) => name === s.name);
    const parts = [`${named ? named[2] : s.name}: ${rate(s.rate)}`];
    if (s.by) parts.push(`by ${s.by}${s.entry ? ` ${s.entry}` : ""}`);
    if (s.until) parts.push(`until ${new Date(s.until).toLocaleString([], { weekday: "short", hour: "2-digit", minute: "2-digit" })}`);
    setText(item, parts.join(", "));
  });
}

byId("limit").addEventListener("submit", (e) => {
  e.preventDefault();
  const request = {};
  for (const [, key] of limits) {
    const wanted = Math.round(Number(e.target[key].value || 0) * 1e6);
    if (wanted !== (inForce[key] || 0)) request[key] = wanted;
  }
  act(e.target, () => call("/v1/limit", request), "Set");
});

byId("reset").addEventListener("click", () => {
  act(byId("limit"), () => call("/v1/limit", { reset: true }), "As configured");
});
