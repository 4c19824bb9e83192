"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const one = (id) => document.getElementById(id);

  // --- light and dark: the system's, until somebody chooses -------------------------------------------------------
  const theme = one("theme");
  const stored = (value) => {
    try {
      if (value === undefined) return localStorage.getItem("racelint-theme");
      localStorage.setItem("racelint-theme", value);
    } catch { /* a file without storage forgets */ }
    return null;
  };
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const paint = (name) => {
    if (name === "dark" || name === "light") root.dataset.theme = name;
    theme.setAttribute("aria-pressed", String(dark()));
  };
  const turn = () => {
    const name = dark() ? "light" : "dark";
    paint(name);
    stored(name);
  };
  paint(stored());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => paint());
  theme.addEventListener("click", turn);
  theme.hidden = false;

  // --- dialogs ----------------------------------------------------------------------------------------------------
  const manual = one("manual"), keys = one("keys"), help = one("help");
  for (const dialog of [manual, keys]) {
    dialog.querySelector(".close").addEventListener("click", () => dialog.close());
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  }
  help.addEventListener("click", () => keys.showModal());
  const openManual = (article) => {
    one("manual-title").textContent = article.getAttribute("aria-label");
    manual.querySelector(".manual").replaceChildren(...[...article.childNodes].map((node) => node.cloneNode(true)));
    manual.showModal();
    manual.scrollTop = 0;
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a.page");
    const article = link && one(link.hash.slice(1));
    if (!article) return;
    event.preventDefault();
    openManual(article);
  });

  const form = one("filters");
  if (!form) {
    document.addEventListener("keydown", (event) => event.key === "t" && !event.ctrlKey && !event.metaKey && turn());
    return;
  }
  form.hidden = false;
  help.hidden = false;

  // --- filters: within a group either, between groups both --------------------------------------------------------
  const cards = all(".finding"), groups = all(".file");
  const folds = matchMedia("(max-width: 62rem)");
  const side = one("side"), shown = one("shown"), none = one("none"), unfold = one("unfold"), clear = form.querySelector(".clear");
  const total = cards.length;
  root.classList.toggle("many", total > 100);
  const names = [...new Set(all("input[type=checkbox]", form).map((box) => box.name))];
  const folderOf = (path) => path.includes("/") ? path.slice(0, path.lastIndexOf("/") + 1) : "./";
  const items = cards.map((card) => ({ card, ...card.dataset, folder: folderOf(card.dataset.path), text: "" }));
  const textOf = (item) => item.text ||= `${item.path} ${item.rule} ${item.card.textContent}`.toLowerCase();
  const pattern = (text) => {
    const parts = text.trim().split(/(\*\*\/|\*\*|\*|\?)/).map((part) => ({
      "**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]",
    })[part] ?? part.replace(/[.+^${}()|[\]\\]/g, "\\$&"));
    return new RegExp(parts.join(""), "i");
  };
  const within = (name, item, value) => name === "folder" && value !== "./" ? item.folder.startsWith(value) : item[name] === value;
  const fits = (item, chosen, words, path, besides) =>
    names.every((name) => name === besides || !chosen[name].length || chosen[name].some((value) => within(name, item, value)))
    && (!path || path.test(item.path))
    && words.every((word) => textOf(item).includes(word));

  const apply = () => {
    const data = new FormData(form);
    const chosen = Object.fromEntries(names.map((name) => [name, data.getAll(name)]));
    const words = data.get("q").toLowerCase().split(/\s+/).filter(Boolean);
    const path = data.get("path").trim() && pattern(data.get("path"));
    let left = 0;
    for (const item of items) {
      const hide = !fits(item, chosen, words, path);
      if (item.card.hidden !== hide) item.card.hidden = hide;
      left += !hide;
    }
    for (const group of groups) {
      const count = all(".finding:not([hidden])", group).length;
      group.hidden = !count;
      group.querySelector("h2 .count").textContent = count;
    }
    for (const name of names) {
      const open = items.filter((item) => fits(item, chosen, words, path, name));
      for (const box of all(`input[name="${name}"]`, form)) {
        const count = open.filter((item) => within(name, item, box.value)).length;
        box.dataset.count = count;
        box.parentElement.querySelector("output").textContent = count;
      }
    }
    const word = total === 1 ? "finding" : "findings";
    shown.textContent = left === total ? `${total.toLocaleString("en")} ${word}` : `${left.toLocaleString("en")} of ${total.toLocaleString("en")} ${word}`;
    none.hidden = left > 0;
    clear.disabled = left === total && !words.length && !path && names.every((name) => !chosen[name].length);
    remember(data);
    label();
  };

  // --- the address keeps the filters, so that a link shows what its sender saw -------------------------------------
  const remember = (data) => {
    const kept = new URLSearchParams([...data].filter(([, value]) => value));
    try {
      if (!location.hash.startsWith("#f-") || kept.size) history.replaceState(null, "", kept.size ? `#${kept}` : location.pathname + location.search);
    } catch { /* some viewers forbid it */ }
  };
  const recall = () => {
    const hash = decodeURIComponent(location.hash.slice(1));
    const target = hash ? one(hash) : null;
    if (target?.matches(".finding")) {
      if (target.hidden) form.reset();
      target.open = true;
      focus(target);
      return;
    }
    if (target || !location.hash.includes("=")) return;
    const kept = new URLSearchParams(location.hash.slice(1));
    for (const box of all("input[type=checkbox]", form)) box.checked = kept.getAll(box.name).includes(box.value);
    for (const name of ["q", "path"]) form.elements[name].value = kept.get(name) ?? "";
  };

  // --- moving about -----------------------------------------------------------------------------------------------
  const visible = () => cards.filter((card) => !card.hidden);
  let current = null;
  const choose = (card) => {
    current?.classList.remove("current");
    current = card;
    current.classList.add("current");
  };
  const focus = (card) => {
    choose(card);
    const summary = card.querySelector("summary");
    summary.focus({ preventScroll: true });
    summary.scrollIntoView({ block: card.open ? "start" : "nearest", behavior: "instant" });
  };
  const move = (by) => {
    const list = visible();
    if (!list.length) return;
    const here = current && !current.hidden ? list.indexOf(current) : by > 0 ? -1 : list.length;
    focus(list[Math.min(Math.max(here + by, 0), list.length - 1)]);
  };
  const label = () => {
    const list = visible();
    unfold.textContent = list.length && list.every((card) => card.open) ? "Fold all" : "Unfold all";
    unfold.hidden = !list.length;
  };
  const toggleAll = () => {
    const list = visible(), open = !list.every((card) => card.open);
    for (const card of list) card.open = open;
    label();
  };
  one("findings").addEventListener("focusin", (event) => {
    const card = event.target.closest(".finding");
    if (card) choose(card);
  });
  one("findings").addEventListener("toggle", label, true);
  unfold.addEventListener("click", toggleAll);

  const acts = {
    "/": () => { side.open = true; form.elements.q.focus(); form.elements.q.select(); },
    j: () => move(1), k: () => move(-1), e: toggleAll, t: turn, "?": () => keys.showModal(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const typing = event.target.matches("input[type=search]");
    if (typing && event.key === "Escape") event.target.blur();
    if (typing && event.key === "Enter") { event.preventDefault(); move(1); }
    if (typing || document.querySelector("dialog[open]") || !Object.hasOwn(acts, event.key)) return;
    event.preventDefault();
    acts[event.key]();
  });

  // --- printing shows what is folded away -------------------------------------------------------------------------
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = visible().flatMap((card) => [card, ...all(".fold", card)]).filter((details) => !details.open);
    for (const details of folded) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of folded) details.open = false;
    folded = [];
  });

  let pending = 0;
  form.addEventListener("input", () => { clearTimeout(pending); pending = setTimeout(apply, total > 300 ? 120 : 0); });
  form.addEventListener("reset", () => setTimeout(apply));
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", () => { recall(); apply(); });
  side.open = !folds.matches;
  folds.addEventListener("change", () => { side.open = !folds.matches; });
  recall();
  apply();
})();
