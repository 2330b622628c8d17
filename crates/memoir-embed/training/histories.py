"""Histories, facts and chats as examples: a question, the windows to read, and the sentences that answer it.

A window is a few consecutive sentences of one exchange or document section, split as the program splits them.
"""

import glob, json, multiprocessing, re

UNIT, WINDOW = 80, 136
encode = None  # A function from a text to token ids, set by the script that trains.
known_ids = {}


def ids_of(text):
    if text not in known_ids:
        known_ids[text] = encode(text)
    return known_ids[text]


ABBREVIATIONS = {"dr", "mr", "mrs", "ms", "st", "e.g", "i.e", "etc", "vs", "approx", "ca", "jr", "prof", "inc", "z.b"}


def sentences(line):
    found, start = [], 0
    for index, character in enumerate(line):
        if character not in ".!?" or line[index + 1 : index + 2] != " ":
            continue
        before = re.split(r"[ (]", line[start:index])[-1].lower()
        after = line[index + 1 :].lstrip()[:1]
        initial = len(before) == 1 and before.isalpha()
        if character == "." and (before in ABBREVIATIONS or initial or (after.islower() and len(before) <= 3)):
            continue
        found.append(line[start : index + 1].strip())
        start = index + 1
    return [s for s in found + [line[start:].strip()] if s]


def split(text):
    """Split a text as the program does: pairs of what is quoted and what is read."""
    units, columns, headings, code = [], [], [], False
    lines = [line.strip() for line in text.split("\n")]
    for index, line in enumerate(lines):
        following = lines[index + 1] if index + 1 < len(lines) else ""
        is_rule = lambda line: line.startswith("|") and set(line) <= set("|-: ")
        if line.startswith("```"):
            code = not code
        elif code:
            units.append((line, line, list(headings)))
        elif not line:
            columns = []
        elif re.match(r"#+ ", line):
            depth = len(line) - len(line.lstrip("#"))
            headings = headings[: depth - 1] + [line.lstrip("# ")]
        elif is_rule(line):
            pass
        elif line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if is_rule(following):
                columns = cells
                continue
            named = [f"{columns[i]}: {c}" if i < len(columns) and columns[i] else c for i, c in enumerate(cells)]
            units.append((" | ".join(cells), ", ".join(named), list(headings)))
        else:
            line = re.sub(r"^(?:[-*+]|\d+[.)])\s+", "", line.removeprefix("> ").strip())
            for sentence in sentences(line):
                sentence = sentence.replace("**", "").replace("`", "")
                if not (sentence.endswith(":") and index + 1 < len(lines)):
                    units.append((sentence, sentence, list(headings)))
    return [unit for unit in units if len(unit[0]) >= 3]


class Window:
    """Consecutive sentences that are read together."""

    def __init__(self, before, group):
        self.before, self.group, self.date, self.stems = before, group, "", None
        # Of each sentence: what is quoted, what is read, and its token ids.
        self.texts, self.reads, self.units = [], [], []

    def size(self):
        return sum(len(unit) + 1 for unit in self.units)


def windows_of(group, title, parts, date=""):
    """Pack parts (speaker, text, quoted text) into windows. `title` and the words before a window precede it."""
    windows, last = [], ""
    for speaker, read, quoted in parts:
        last_read = f"{speaker}: {read}"
        unit = ids_of(last_read)[:UNIT]
        if not windows or windows[-1].size() + len(unit) + 1 > WINDOW:
            windows.append(Window((title[:40], last[-120:]), group))
            windows[-1].date = date
        windows[-1].texts.append(quoted)
        windows[-1].reads.append(last_read)
        windows[-1].units.append(unit)
        last = last_read
    return windows


def history_windows(history):
    windows = []
    for number, conversation in enumerate(history["conversations"]):
        exchange, last, previous, exchanges = [], "", "", []
        for message in conversation["messages"]:
            if message["by"] == "user" and exchange:
                exchanges.append((exchange, last))
                exchange = []
            if not exchange:
                last = previous
            exchange += [(message["by"], read, quoted) for quoted, read, _ in split(message["text"])]
            previous = message["text"].replace("\n", " ")
        exchanges.append((exchange, last))
        for place, (parts, last) in enumerate(exchanges):
            packed = windows_of((number, place), conversation["title"], parts, conversation["date"])
            if packed and last:
                packed[0].before = (packed[0].before[0], last[-120:])
            windows += packed
    for number, document in enumerate(history.get("documents", [])):
        sections = {}
        for quoted, read, headings in split(document["text"]):
            sections.setdefault(" / ".join(headings), []).append(("document", read, quoted))
        for heading, parts in sections.items():
            title = (document["title"] + " / " + heading)[-40:] if heading else document["title"]
            windows += windows_of(("document", number), title, parts, document["date"])
    return windows


def plain(text):
    return re.sub(r"\W+", " ", text.lower()).strip()


def matches(unit, answer):
    a, b = plain(unit), plain(answer)
    return a == b or (len(a) >= 12 and len(b) >= 12 and (a in b or b in a))


class Example:
    """A question, the windows to read, and the places (window, unit) of sentences that answer it."""

    def __init__(self, question, windows, answers=(), earlier="", any_of=False, excluded=(), newest=None):
        self.question, self.windows, self.answers, self.earlier = question, windows, set(answers), earlier
        self.any_of, self.excluded, self.newest = any_of, set(excluded), newest
        self.hard = None
        # The scores of the sentences of some windows, given by a larger model: {window: scores}.
        self.soft = None


def find(windows, answer):
    exact = [(w, u) for w, window in enumerate(windows) for u, t in enumerate(window.texts) if plain(t) == plain(answer)]
    return exact or [(w, u) for w, window in enumerate(windows) for u, t in enumerate(window.texts) if matches(t, answer)]


def history_examples(history):
    windows = history_windows(history)
    examples = {"asked": [], "absent": [], "updates": [], "current": [], "then": []}
    for asked in history["asked"]:
        newest = find(windows, asked["answer"])
        outdated = [place for text in asked.get("outdated", []) for place in find(windows, text)]
        if not newest:
            continue
        examples["asked"].append(Example(asked["q"], windows, newest + outdated, newest=set(newest)))
        newer = lambda place: [w for w in windows if w.date > windows[place[0]].date]
        for w, u in outdated:
            later = newer((w, u))
            found = find(later, asked["answer"])
            if found:
                examples["updates"].append(Example(asked["q"], later, found, earlier=windows[w].texts[u]))
        later = newer(newest[0])
        if later:
            earlier = windows[newest[0][0]].texts[newest[0][1]]
            examples["current"].append(Example(asked["q"], later, earlier=earlier))
    for then in history.get("then", []):
        asked = history["asked"][then["after"]]
        found = find(windows, then["answer"])
        first = [p for text in [asked["answer"]] for p in find(windows, text)]
        if found and not set(found) & set(first):
            question = asked["q"] + " " + then["q"]
            examples["then"].append(Example(question, windows, found, excluded=first, newest=set(found)))
    examples["absent"] = [Example(question, windows) for question in history["absent"]]
    return examples


def fact_examples(person):
    windows = []
    for number, fact in enumerate(person["facts"]):
        windows += windows_of(number, "", [("user", fact["said"], fact["said"])])
    examples = {"asked": [], "absent": []}
    for number, fact in enumerate(person["facts"]):
        replaced = {other["replaces"] for other in person["facts"] if "replaces" in other and other["replaces"] is not None}
        same = {number}
        for _ in range(4):
            same |= {i for i, other in enumerate(person["facts"]) if other.get("replaces") in same and other.get("replaces") is not None}
            same |= {person["facts"][i]["replaces"] for i in same if person["facts"][i].get("replaces") is not None}
        answers = [(w, 0) for w, window in enumerate(windows) if window.group in same]
        examples["asked"] += [Example(q, windows, answers, newest=set(answers)) for q in fact["asked"]]
        if number not in replaced:
            examples["absent"] += [Example(q, windows) for q in fact["absent"]]
    return examples


def talk_examples(excerpt):
    windows, place = [], {}
    parts = []
    for number, message in enumerate(excerpt["messages"]):
        for quoted, read, _ in split(message["text"]):
            parts.append((message["by"], read, (number, quoted)))
    windows = windows_of(0, "", [(by, read, quoted) for by, read, quoted in parts])
    for w, window in enumerate(windows):
        for u, (number, quoted) in enumerate(window.texts):
            place.setdefault(number, []).append((w, u))
        window.texts = [quoted for _, quoted in window.texts]
    asked = [Example(a["q"], windows, [p for e in a["evidence"] for p in place.get(e, [])], any_of=True)
             for a in excerpt["asked"]]
    return {"asked": [e for e in asked if e.answers], "absent": [Example(q, windows) for q in excerpt.get("absent", [])]}


def read_lines(pattern):
    return [json.loads(line) for path in sorted(glob.glob(str(pattern))) for line in open(path) if line.strip()]


STOP = set("the a an of to in is are was were do does did what which who when where how why my i we our you it that this "
           "for on at with and or not be have has had as by from".split())


def stems(text):
    return {word[:5] for word in plain(text).split() if word not in STOP}


def hardness(example):
    """Order the windows by the words that they share with the question, the most tempting first."""
    if example.hard is None:
        words = stems(example.question)
        for window in example.windows:
            if window.stems is None:
                window.stems = stems(" ".join(window.texts))
        example.hard = sorted(range(len(example.windows)), key=lambda w: -len(words & example.windows[w].stems))
    return example.hard


def choose_windows(example, others, count, rng):
    """Return windows with answers, tempting ones, random ones and one of another history."""
    answering = sorted({w for w, _ in example.answers})
    if len(answering) > 2:
        answering = rng.sample(answering, 2)
    rest = [w for w in hardness(example)[:8] if w not in answering]
    count = max(1, count - len(answering) - 1)
    chosen = rng.sample(rest, min(len(rest), count))
    chosen = [(w, example.windows[w]) for w in answering + chosen]
    foreign = rng.choice(others)
    return chosen + [(None, rng.choice(foreign.windows))]


def vary(example, place, window, foreign, rng):
    """Return a variation of a window, and the place of each of its sentences, so that neither the first sentence after
    a question nor one next to the answer counts as the answer."""
    units = [(read, unit, (place, number)) for number, (read, unit) in enumerate(zip(window.reads, window.units))]
    is_answer = lambda unit: unit[2] in example.answers
    varied = Window(window.before, window.group)
    if rng.random() < 0.25:
        answers = [unit for unit in units if is_answer(unit)]
        chosen = rng.choice(answers or units)
        if len(chosen[1]) >= 8:
            units = [chosen]
            varied.before = (window.before[0] if rng.random() < 0.5 else "", "")
    else:
        units = [unit for unit in units if is_answer(unit) or rng.random() >= 0.12] or units
        if rng.random() < 0.4:
            number = rng.randrange(len(foreign.units))
            units.insert(rng.randrange(len(units) + 1), (foreign.reads[number], foreign.units[number], None))
        if rng.random() < 0.3:
            rng.shuffle(units)
    size = 0
    for read, unit, origin in units:
        if size + len(unit) + 1 <= WINDOW or origin in example.answers:
            varied.units.append(unit[: max(4, WINDOW - size - 1)])
            varied.reads.append(read)
            varied.texts.append(origin)
            size += len(unit) + 1
        if size > WINDOW - 6:
            break
    return varied


class Data:
    """The histories, people and chats of a folder. Those whose number is `held` only measure."""

    def __init__(self, folder, held="04", everything=False, sample=0):
        self.histories = read_lines(folder / "answers/histories-*.jsonl")
        self.people = read_lines(folder / "answers/facts*.jsonl")
        self.talks = read_lines(folder / "talk/*.jsonl") + read_lines(folder / "answers/talk-*.jsonl")
        if sample:
            self.histories = self.histories[:: len(self.histories) // sample]
            self.people, self.talks = self.people[:4], self.talks[:sample]
        is_held = lambda item: item["id"].endswith("-" + held)
        self.held = [history for history in self.histories if is_held(history)]
        self.held_people = [person for person in self.people if is_held(person)]
        if not everything:
            self.histories = [history for history in self.histories if not is_held(history)]
            self.people = [person for person in self.people if not is_held(person)]


def produced(make, count):
    """Yield what `make(number)` yields in each of `count` processes."""
    queue = multiprocessing.Queue(maxsize=48)

    def produce(number):
        for item in make(number):
            queue.put(item)
        queue.put(None)

    processes = [multiprocessing.Process(target=produce, args=(number,), daemon=True) for number in range(count)]
    for process in processes:
        process.start()
    try:
        while count:
            item = queue.get()
            if item is None:
                count -= 1
            else:
                yield item
    finally:
        for process in processes:
            process.terminate()
