// What the page does beyond links and forms: keys, the scrubber, and events as they are added. Everything can be read
// and followed without it.
"use strict";

(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const one = (selector) => document.querySelector(selector);
  const all = (selector) => [...document.querySelectorAll(selector)];

  // Keys

  const rows = () => all("[data-row] [data-open]");

  const move = (by) => {
    const list = rows();
    if (list.length === 0) return;
    const at = list.indexOf(document.activeElement);
    const next = at < 0 ? (by > 0 ? 0 : list.length - 1) : Math.min(Math.max(at + by, 0), list.length - 1);
    list[next].focus();
    list[next].closest("[data-row]").scrollIntoView({ block: "nearest" });
  };

  const follow = (selector) => {
    const link = one(selector);
    if (link) link.click();
    return Boolean(link);
  };

  const help = () => {
    const dialog = one("dialog.keys");
    if (!dialog.open) dialog.showModal();
  };

  const keys = {
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    u: () => follow("[data-up]"),
    n: () => follow("[data-next]"),
    p: () => follow("[data-previous]"),
    w: () => follow("[data-key=w]"),
    d: () => follow("[data-key=d]"),
    s: () => follow("[data-key=s]"),
    // The time axis.
    "+": () => follow('[data-key="+"]'),
    "=": () => follow('[data-key="+"]'),
    "-": () => follow('[data-key="-"]'),
    0: () => follow('[data-key="0"]'),
    "[": () => follow('[data-key="["]'),
    "]": () => follow('[data-key="]"]'),
    f: () => {
      const box = one("[data-failed]");
      if (box) {
        box.checked = !box.checked;
        box.form.requestSubmit();
      }
    },
    "/": () => {
      const field = one("[data-filter]");
      if (field) {
        field.focus();
        if (field.select) field.select();
      }
    },
    "?": help,
  };

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (one("dialog[open]")) return;
    const target = event.target;
    if (target.closest("input, select, textarea")) {
      if (event.key === "Escape") target.blur();
      return;
    }
    // A region that scrolls keeps its arrows.
    if (event.key.startsWith("Arrow") && target.closest("pre, .graph")) return;
    const act = keys[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  });

  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-help]")) help();
  });

  // What is chosen is followed at once, except where two choices belong together.
  const choices = "body:not([data-page=compare]) .filters :is(select, input[type=checkbox])";

  document.addEventListener("change", (event) => {
    if (event.target.closest(choices)) event.target.form.requestSubmit();
  });

  // Empty fields need not be in the address.
  document.addEventListener("formdata", (event) => {
    for (const [name, value] of [...event.formData]) if (value === "") event.formData.delete(name);
  });

  // Parts of a page that are loaded again, without losing the rest

  let loading = null;

  const isMoved = (field) => {
    if (field.matches("[type=checkbox]")) return field.checked !== field.defaultChecked;
    if (field.matches("input")) return field.value !== field.defaultValue;
    const chosen = [...field.options].findIndex((option) => option.defaultSelected);
    return field.selectedIndex !== Math.max(0, chosen);
  };

  const isWritten = (form) =>
    form.contains(document.activeElement) || [...form.querySelectorAll("input, select")].some(isMoved);

  const swap = async (address, keep) => {
    if (loading) loading.abort();
    loading = new AbortController();
    let text;
    try {
      const answer = await fetch(address, { headers: { accept: "text/html" }, signal: loading.signal });
      text = await answer.text();
    } catch (error) {
      if (error.name !== "AbortError") throw error;
      return;
    }
    const page = new DOMParser().parseFromString(text, "text/html");
    const fresh = page.querySelector("main");
    const focused = document.activeElement && document.activeElement.id;
    if (!fresh) return;
    document.title = page.title;
    document.body.toggleAttribute("data-unfinished", page.body.hasAttribute("data-unfinished"));
    const json = page.querySelector("[data-json]");
    if (json) one("[data-json]").replaceWith(document.adoptNode(json));
    // What is said about a run may come with its check.
    const notices = page.querySelector(".notices");
    if (notices && notices.innerHTML !== one(".notices").innerHTML) {
      one(".notices").replaceWith(document.adoptNode(notices));
    }
    if (keep) {
      // The slider must stay the same element while it is moved.
      const slider = one("[data-scrub] input[type=range]");
      const other = fresh.querySelector("[data-scrub] input[type=range]");
      if (slider && other) {
        slider.max = other.max;
        if (slider !== document.activeElement) slider.value = other.value;
        other.replaceWith(slider);
      }
    }
    // What is being written in a filter stays.
    const [form, other] = [one("form.filters"), fresh.querySelector("form.filters")];
    if (form && other && isWritten(form)) other.replaceWith(form);
    one("main").replaceWith(document.adoptNode(fresh));
    if (focused) {
      const again = document.getElementById(focused);
      if (again) again.focus({ preventScroll: true });
    }
    begin();
  };

  // A page that waits for work in the background is loaded again.

  let waiting = 0;

  const wait = () => {
    clearTimeout(waiting);
    if (document.body.hasAttribute("data-unfinished")) {
      waiting = setTimeout(() => swap(location.href, true), 300);
    }
  };

  // The scrubber

  let moved = 0;

  const scrub = (slider) => {
    one("[data-at]").textContent = Number(slider.value).toLocaleString("en");
    clearTimeout(moved);
    moved = setTimeout(() => {
      const address = new URL(location.href);
      address.searchParams.set("at", slider.value);
      history.replaceState(null, "", address);
      swap(address.href, true);
    }, 60);
  };

  document.addEventListener("input", (event) => {
    const slider = event.target.closest("[data-scrub] input[type=range]");
    if (slider) scrub(slider);
  });

  // What is said about a whole run, counted again: at most once at a time, and once more for what came since

  let counting = false;
  let stale = false;

  const recount = async () => {
    if (counting) {
      stale = true;
      return;
    }
    counting = true;
    do {
      stale = false;
      let page;
      try {
        const answer = await fetch(location.href, { headers: { accept: "text/html" } });
        page = new DOMParser().parseFromString(await answer.text(), "text/html");
      } catch {
        break; // The stream says that the connection was lost, and what comes after that counts again.
      }
      for (const part of ["[data-about]", "[data-totals]", ".figures", "[data-table]", ".lanes"]) {
        const [old, fresh] = [one(part), page.querySelector(part)];
        // What the keyboard is in stays.
        if (old && fresh && !old.contains(document.activeElement)) old.replaceWith(document.adoptNode(fresh));
      }
      // On a busy machine, the server may not have read the last events yet.
      if (page.body.hasAttribute("data-unfinished")) stale = true;
      if (stale) await new Promise((done) => setTimeout(done, 500));
    } while (stale);
    counting = false;
  };

  // Events as they are added

  // The most events that a page keeps while it follows a run.
  const MOST_FOLLOWED = 1000;

  let source = null;

  const listen = () => {
    const body = one("[data-live]");
    if (source) source.close();
    source = null;
    if (!body || !window.EventSource) return;
    const status = one("[data-live-status]");
    const say = (text, on) => {
      status.lastElementChild.textContent = text;
      status.classList.toggle("on", on);
    };
    source = new EventSource(body.dataset.live);
    source.onopen = () => say("live: new events appear here", true);
    source.onerror = () => say("the connection was lost; trying again", false);
    source.addEventListener("rows", (event) => {
      const news = JSON.parse(event.data);
      const table = new DOMParser().parseFromString(`<table><tbody>${news.html}</tbody></table>`, "text/html");
      const atEnd = window.innerHeight + window.scrollY >= document.body.scrollHeight - 80;
      for (const row of table.querySelectorAll("tr")) {
        if (document.getElementById(row.id)) continue;
        row.classList.add("new");
        body.append(document.adoptNode(row));
      }
      while (body.rows.length > MOST_FOLLOWED) body.rows[0].remove();
      recount();
      if (atEnd) window.scrollTo({ top: document.body.scrollHeight });
      if (news.finished) {
        source.close();
        say("the run has finished", false);
      }
    });
    source.addEventListener("trouble", (event) => {
      source.close();
      say(JSON.parse(event.data).error, false);
    });
  };

  // Figures that are pinned on any page of this tab, as the text of a file. Without any, the text has those of the page.

  const PINS = "retold-pins";
  const pinned = () => JSON.parse(sessionStorage.getItem(PINS) || "[]");

  const pin = () => {
    const text = one("[data-pins-text]");
    const buttons = all("[data-pin]");
    if (!text) return;
    const show = () => {
      const lines = pinned();
      text.textContent = ["figures:", ...(lines.length ? lines : buttons.map((button) => button.dataset.pin))].join("\n") + "\n";
      for (const button of buttons) {
        const on = lines.includes(button.dataset.pin);
        button.setAttribute("aria-pressed", on);
        button.textContent = on ? "Pinned" : "Pin";
      }
    };
    for (const button of buttons) {
      button.hidden = false;
      button.addEventListener("click", () => {
        const [line, lines] = [button.dataset.pin, pinned()];
        const others = lines.filter((other) => other !== line);
        sessionStorage.setItem(PINS, JSON.stringify(others.length < lines.length ? others : [...lines, line]));
        one("[data-pins]").open = true;
        show();
      });
    }
    const copy = one("[data-copy]");
    // A browser has a clipboard on pages of this machine only, or over HTTPS.
    copy.hidden = !navigator.clipboard;
    copy.addEventListener("click", () => {
      const said = one("[data-copied]");
      navigator.clipboard.writeText(text.textContent).then(
        () => (said.textContent = "copied"),
        () => (said.textContent = "the browser refused: select the text"),
      );
    });
    show();
  };

  const begin = () => {
    pin();
    wait();
    listen();
  };

  window.addEventListener("pagehide", () => source && source.close());
  begin();
  // What was chosen before this script came is followed now.
  const slider = one("[data-scrub] input[type=range]");
  if (slider && isMoved(slider)) scrub(slider);
  all(choices).find(isMoved)?.form.requestSubmit();
})();
