// What the pages of nodes and of trackers share: figures, elements, and the stream of events.

const space = "\u00a0"; // does not break
const units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];

// bytes formats a number of bytes in powers of 1000, as the commands do.
export function bytes(n) {
  let unit = 0;
  while (n >= 999.5 && unit < units.length - 1) {
    n /= 1000;
    unit++;
  }
  return `${n < 10 && unit > 0 ? n.toFixed(1) : Math.round(n)}${space}${units[unit]}`;
}

export function rate(n) {
  return `${bytes(n)}/s`;
}

// duration formats seconds in two units at most.
export function duration(s) {
  s = Math.round(s);
  const pad = (n) => String(n).padStart(2, "0");
  const parts =
    s < 60 ? [s, "s"]
    : s < 3600 ? [Math.floor(s / 60), "min", pad(s % 60), "s"]
    : s < 48 * 3600 ? [Math.floor(s / 3600), "h", pad(Math.floor(s / 60) % 60), "min"]
    : [Math.floor(s / 86400), "d", Math.floor(s / 3600) % 24, "h"];
  return parts.join(space);
}

// percent is 100 only when nothing is missing.
export function percent(part, whole) {
  if (whole <= 0 || part >= whole) return 100;
  return Math.floor((part / whole) * 100);
}

export function plural(n, thing) {
  return `${n} ${thing}${n === 1 ? "" : "s"}`;
}

// shorten abbreviates the id of a content. Short names stay as they are.
export function shorten(id) {
  return id.length > 20 ? `${id.slice(0, 8)}…${id.slice(-8)}` : id;
}

export function byId(id) {
  return document.getElementById(id);
}

// element makes an element of text. Text is never taken for HTML.
export function element(name, className, text) {
  const e = document.createElement(name);
  if (className) e.className = className;
  if (text !== undefined) e.textContent = text;
  return e;
}

// setText changes a text only if it differs, so that selections and screen readers are left alone.
export function setText(e, text) {
  if (e.textContent !== text) e.textContent = text;
}

// sync makes the children of a list those of items: known ones are updated in place, so that focus
// stays where it is.
export function sync(list, items, key, make, update) {
  const known = new Map();
  for (const child of list.children) known.set(child.dataset.key, child);
  let before = null;
  for (const item of items) {
    const k = key(item);
    let child = known.get(k);
    if (child) {
      known.delete(k);
    } else {
      child = make(item);
      child.dataset.key = k;
    }
    const place = before ? before.nextSibling : list.firstChild;
    if (child !== place) list.insertBefore(child, place);
    update(child, item);
    before = child;
  }
  for (const child of known.values()) child.remove();
}

// follow shows the events of a stream, and connects again when it breaks. The returned function asks for
// the details of something else.
export function follow(show, hello) {
  const state = byId("state");
  let source = null;
  let detail = "";
  let timer = 0;
  const say = (text, className) => {
    setText(state, text);
    state.className = `state ${className}`;
  };
  const connect = () => {
    clearTimeout(timer);
    if (source) source.close();
    source = new EventSource(`/events?detail=${encodeURIComponent(detail)}`);
    source.addEventListener("hello", (e) => {
      say("Live", "live");
      hello(JSON.parse(e.data));
    });
    source.onmessage = (e) => show(JSON.parse(e.data));
    source.onerror = async () => {
      if (source.readyState !== EventSource.CLOSED) {
        say("Connection lost, trying again", "lost");
        return;
      }
      // The answer is an error, as without the token after a restart: the browser gives up, and does not show which.
      const answer = await fetch(source.url).catch(() => null);
      if (answer?.ok) answer.body.cancel();
      say(answer && !answer.ok ? await reason(answer) : "Connection lost, trying again", "lost");
      timer = setTimeout(connect, 3000);
    };
  };
  connect();
  return (name) => {
    if (name === detail) return;
    detail = name;
    connect();
  };
}

// call posts to the control API and returns the lines of the answer. each, if given, sees each line as it
// comes, and ends the reading by returning true.
export async function call(path, request, each) {
  const stop = new AbortController();
  const answer = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(request),
    signal: stop.signal,
  });
  if (!answer.ok) throw new Error(await reason(answer));
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  let last = {};
  for (;;) {
    const { value, done } = await reader.read();
    text += value || "";
    const lines = text.split("\n");
    text = lines.pop();
    for (const line of lines) {
      if (!line) continue;
      last = JSON.parse(line);
      if (last.error && last.error.text) throw new Error(last.error.text);
      if (each && each(last)) {
        stop.abort();
        return last;
      }
    }
    if (done) return last;
  }
}

async function reason(answer) {
  const text = await answer.text();
  try {
    return JSON.parse(text).text || text;
  } catch {
    return text || answer.statusText;
  }
}
