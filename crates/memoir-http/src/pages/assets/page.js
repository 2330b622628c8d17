// @ts-check
// The script of all pages. Its types are comments, which `tsc` checks, so that no build step is needed.
"use strict";

/** Time in milliseconds after the last key before a search starts. */
const SEARCH_DELAY = 160;

/**
 * Returns the element with an id if it is of a type.
 * @template {Element} T
 * @param {string} id
 * @param {new () => T} type
 * @returns {T | null}
 */
function find(id, type) {
  const element = document.getElementById(id);
  return element instanceof type ? element : null;
}

/**
 * Creates an element with a text.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {string} text
 * @param {string} [className]
 * @returns {HTMLElementTagNameMap[K]}
 */
function create(name, text, className) {
  const element = document.createElement(name);
  element.textContent = text;
  if (className) element.className = className;
  return element;
}

/**
 * Replaces the content of an element by HTML from this server, which has made all stored text harmless.
 * @param {Element} element
 * @param {string} html
 */
function replaceContent(element, html) {
  const page = new DOMParser().parseFromString(html, "text/html");
  element.replaceChildren(...page.body.childNodes);
}

/** Searches while the user types. */
function searchWhileTyping() {
  const form = find("search", HTMLFormElement);
  const results = find("results", HTMLDivElement);
  if (!form || !results) return;
  let timer = 0;
  /** @type {AbortController | null} */
  let running = null;

  const search = async () => {
    running?.abort();
    const current = running = new AbortController();
    const query = new URLSearchParams();
    for (const [name, value] of new FormData(form)) {
      if (typeof value === "string" && value) query.set(name, value);
    }
    const address = query.size ? `/?${query}` : "/";
    const fragment = new URLSearchParams(query);
    fragment.set("fragment", "true");
    try {
      const response = await fetch(`/?${fragment}`, { signal: current.signal });
      if (response.redirected) return location.reload();
      const html = await response.text();
      if (current !== running || !response.ok) return;
      replaceContent(results, html);
      history.replaceState(null, "", address);
    } catch (error) {
      if (!(error instanceof DOMException && error.name === "AbortError")) {
        results.replaceChildren(create("p", "The server does not answer. Is `memoir serve` running?", "problem"));
      }
    }
  };
  const schedule = () => {
    clearTimeout(timer);
    timer = setTimeout(search, SEARCH_DELAY);
  };
  form.addEventListener("input", schedule);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(timer);
    search();
  });
}

/** Moves between items and opens them with keys. */
function listenToKeys() {
  const items = () => [...document.querySelectorAll("[data-item]")];

  /** @param {number} step */
  const move = (step) => {
    const list = items();
    if (!list.length) return;
    const current = list.findIndex((item) => item.classList.contains("selected"));
    const next = Math.min(Math.max(current + step, 0), list.length - 1);
    list[current]?.classList.remove("selected");
    const item = list[next];
    item.classList.add("selected");
    item.scrollIntoView({ block: "nearest" });
    const link = item.querySelector("a, summary");
    if (link instanceof HTMLElement) link.focus({ preventScroll: true });
  };

  document.addEventListener("keydown", (event) => {
    const isTyping = event.target instanceof HTMLElement && event.target.closest("input, textarea, select");
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
    if (document.querySelector("dialog[open]")) return;
    switch (event.key) {
      case "/": {
        const field = document.querySelector("input[type=search]");
        if (field instanceof HTMLInputElement) field.select();
        else location.assign("/");
        break;
      }
      case "j": move(1); break;
      case "k": move(-1); break;
      case "?": find("keys", HTMLDialogElement)?.showModal(); break;
      default: return;
    }
    event.preventDefault();
  });
}

/**
 * Reads lines of JSON as they arrive.
 * @param {ReadableStream<Uint8Array>} stream
 * @param {(line: any) => void} handle
 */
async function readLines(stream, handle) {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    rest += decoder.decode(value, { stream: !done });
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line) handle(JSON.parse(line));
    if (done) return;
  }
}

/** Sends files that the user chooses or drops, one after another. */
function receiveFiles() {
  for (const form of document.querySelectorAll("form.drop")) {
    if (!(form instanceof HTMLFormElement)) continue;
    const input = form.querySelector("input[type=file]");
    const list = form.querySelector(".uploads");
    if (!(input instanceof HTMLInputElement) || !list) continue;
    let queue = Promise.resolve();

    /** @param {FileList | null | undefined} files */
    const add = (files) => {
      for (const file of files ?? []) queue = queue.then(() => sendFile(form, list, file));
    };
    input.addEventListener("change", () => {
      add(input.files);
      input.value = "";
    });
    form.addEventListener("dragover", (event) => {
      event.preventDefault();
      form.classList.add("over");
    });
    form.addEventListener("dragleave", () => form.classList.remove("over"));
    form.addEventListener("drop", (event) => {
      event.preventDefault();
      form.classList.remove("over");
      add(event.dataTransfer?.files);
    });
    form.addEventListener("submit", (event) => event.preventDefault());
  }
}

/**
 * Sends a file and shows how far it is.
 * @param {HTMLFormElement} form
 * @param {Element} list
 * @param {File} file
 * @returns {Promise<void>}
 */
function sendFile(form, list, file) {
  const item = create("li", file.name);
  const progress = document.createElement("progress");
  progress.setAttribute("aria-label", file.name);
  const status = create("p", "Sending", "meta");
  item.append(progress, status);
  list.append(item);

  const query = new URLSearchParams({ name: file.name });
  for (const [name, value] of new FormData(form)) if (typeof value === "string") query.set(name, value);

  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    let read = 0;

    /**
     * @param {string} text
     * @param {boolean} hasFailed
     */
    const finish = (text, hasFailed) => {
      progress.remove();
      status.textContent = text;
      status.className = hasFailed ? "problem" : "notice";
    };

    /** @param {any} line */
    const show = (line) => {
      if (line.done) finish(line.done, false);
      if (line.failed) finish(line.failed, true);
      if (line.detail) finish([line.detail, line.hint].filter(Boolean).join(". "), true);
      if (line.name) finish(`Added as ${line.name}.`, false);
      if (line.progress) {
        const { done, total, unit } = line.progress;
        if (total) [progress.max, progress.value] = [total, done];
        status.textContent = `Reading ${unit}: ${done}${total ? ` of ${total}` : ""}`;
      }
    };

    const readAnswer = () => {
      const end = request.responseText.lastIndexOf("\n") + 1;
      for (const line of request.responseText.slice(read, end).split("\n")) if (line) show(JSON.parse(line));
      read = Math.max(read, end);
    };
    request.upload.addEventListener("progress", (event) => {
      [progress.max, progress.value] = [event.total, event.loaded];
    });
    request.upload.addEventListener("load", () => {
      progress.removeAttribute("value");
      status.textContent = "Reading";
    });
    const isStream = () => request.getResponseHeader("content-type") === "application/x-ndjson";
    request.addEventListener("progress", () => {
      if (isStream()) readAnswer();
    });
    request.addEventListener("load", () => {
      if (isStream()) readAnswer();
      else {
        try {
          show(JSON.parse(request.responseText));
        } catch {
          finish(`The server answered with status ${request.status}.`, true);
        }
      }
      resolve();
    });
    request.addEventListener("error", () => {
      finish("The connection was lost. Send the file again; nothing is added twice.", true);
      resolve();
    });
    request.open(form.dataset.method ?? "POST", `${form.dataset.upload}?${query}`);
    request.setRequestHeader("accept", "application/json");
    request.setRequestHeader("content-type", "application/octet-stream");
    request.send(file);
  });
}

/** Sends messages and shows the answers as they are written. */
function chat() {
  const form = find("chat", HTMLFormElement);
  const prompt = find("prompt", HTMLTextAreaElement);
  const turns = find("turns", HTMLDivElement);
  const stop = find("stop", HTMLButtonElement);
  if (!form || !prompt || !turns || !stop) return;
  /** @type {AbortController | null} */
  let running = null;

  stop.addEventListener("click", () => running?.abort());
  prompt.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const text = prompt.value;
    if (running || !text.trim()) return;
    const article = create("article", "", "card");
    const question = create("section", "", "prompt");
    question.append(create("h2", "You", "speaker"), create("p", text, "excerpt"));
    const answer = create("div", "", "waiting");
    const body = create("section", "", "answer");
    body.append(create("h2", "Assistant", "speaker"), answer);
    article.append(question, body);
    turns.append(article);
    prompt.value = "";
    running = new AbortController();
    stop.hidden = false;

    /** @param {string} reason */
    const fail = (reason) => {
      body.append(create("p", reason, "problem"));
      // The message is not lost.
      if (!prompt.value) prompt.value = text;
    };

    /** @param {any} line */
    const show = (line) => {
      if (line.text) answer.textContent += line.text;
      if (line.tool) body.insertBefore(create("p", `Tool: ${line.tool}`, "meta"), answer);
      if (line.notice) body.append(create("p", line.notice, "meta"));
      if (line.failed) fail(line.failed);
      if (line.done) {
        replaceContent(answer, line.done.html);
        answer.className = "";
        form.dataset.conversation = String(line.done.conversation);
        const why = create("a", "why");
        why.setAttribute("href", `/exchanges/${line.done.exchange}`);
        const footer = create("footer", "", "meta");
        footer.append(why);
        article.append(footer);
        history.replaceState(null, "", `/chat?conversation=${line.done.conversation}`);
      }
      article.scrollIntoView({ block: "end" });
    };
    try {
      const conversation = form.dataset.conversation ? Number(form.dataset.conversation) : null;
      const response = await fetch("/chat/turns", {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json" },
        body: JSON.stringify({ conversation, text }),
        signal: running.signal,
      });
      if (response.ok && response.body) await readLines(response.body, show);
      else {
        const problem = await response.json();
        fail([problem.detail, problem.hint].filter(Boolean).join(". "));
      }
    } catch (error) {
      const isStopped = error instanceof DOMException && error.name === "AbortError";
      fail(isStopped ? "Stopped. Nothing was stored." : "The connection was lost before the answer was complete.");
    } finally {
      running = null;
      stop.hidden = true;
      prompt.focus();
    }
  });
}

searchWhileTyping();
listenToKeys();
receiveFiles();
chat();
