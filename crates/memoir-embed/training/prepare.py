#!/usr/bin/env python3
"""Turn synthetic chats (and FriendsQA, QMSum if available) into groups of {q, q2, pos: [texts], neg: [texts], kind}.

    prepare.py OUT.jsonl TALK.jsonl... [--friends FILE]... [--qmsum FILE]...

Each text comes with the previous one (or ""), because recall compares a message alone and together with it.
"""

import json, re, sys, random

random.seed(7)
out, synth, friends, qmsum = sys.argv[1], [], [], []
into = synth
for a in sys.argv[2:]:
    if a == "--friends":
        into = friends
    elif a == "--qmsum":
        into = qmsum
    else:
        into.append(a)


def pair(texts, i):
    return [texts[i][:1400], texts[i - 1][:600] if i else ""]


def without(q, names):
    for n in names:
        q = re.sub(r"\b%s(?:'s|’s)?\b" % re.escape(n), " ", q, flags=re.I)
    return re.sub(r"\s+", " ", q).strip()


rows = []
for f in synth:
    for line in open(f, encoding="utf-8"):
        if not line.strip():
            continue
        o = json.loads(line)
        texts = [m["text"] for m in o["messages"]]
        names = {m["by"] for m in o["messages"]} - {"user", "assistant"}
        for a in o["asked"]:
            ev = [i for i in a["evidence"] if 0 <= i < len(texts)]
            if not ev:
                continue
            neg = [pair(texts, i) for i in range(len(texts)) if i not in ev] + [[n, ""] for n in o.get("near", [])]
            rows.append(
                {
                    "q": a["q"],
                    "q2": without(a["q"], names) or a["q"],
                    "pos": [pair(texts, i) for i in ev],
                    "neg": neg,
                    "kind": "synth-" + o["kind"],
                }
            )


def tidy(s):
    s = re.sub(r"\s+([.,!?;:'’])", r"\1", s)
    s = re.sub(r"\b(\w+) n't\b", r"\1n't", s)
    return s.replace("gon na", "gonna").replace("wan na", "wanna").strip()


for f in friends:
    for d in json.load(open(f))["data"]:
        for p in d["paragraphs"]:
            us = p.get("utterances:") or p.get("utterances")
            texts = [tidy(u["utterance"]) for u in us]
            names = {n for u in us for n in u["speakers"]} | {n.split()[0] for u in us for n in u["speakers"]}
            for q in p["qas"]:
                ev = (
                    sorted({a["utterance_id"] for a in q["answers"] if not a.get("is_speaker")})
                    if "answers" in q
                    else []
                )
                ev = [i for i in ev if 0 <= i < len(texts) and len(texts[i]) > 15]
                if not ev:
                    continue
                neg = [pair(texts, i) for i in range(len(texts)) if i not in ev and len(texts[i]) > 15]
                random.shuffle(neg)
                qq = tidy(q["question"])
                rows.append(
                    {
                        "q": qq,
                        "q2": without(qq, names) or qq,
                        "pos": [pair(texts, i) for i in ev],
                        "neg": neg[:12],
                        "kind": "friends",
                    }
                )
for f in qmsum:
    for line in open(f, encoding="utf-8"):
        m = json.loads(line)
        texts = [t["content"] for t in m["meeting_transcripts"]]
        for q in m["specific_query_list"]:
            ev = [
                i
                for a, b in q["relevant_text_span"]
                for i in range(int(a), min(int(b) + 1, len(texts)))
                if len(texts[i]) > 80
            ]
            if not 1 <= len(ev) <= 25:
                continue
            neg = [i for i in range(len(texts)) if i not in ev and len(texts[i]) > 80]
            random.shuffle(neg)
            rows.append(
                {
                    "q": q["query"],
                    "q2": q["query"],
                    "pos": [pair(texts, i) for i in ev],
                    "neg": [pair(texts, i) for i in neg[:12]],
                    "kind": "qmsum",
                }
            )
random.shuffle(rows)
with open(out, "w") as f:
    for r in rows:
        f.write(json.dumps(r) + "\n")
from collections import Counter

print(len(rows), Counter(r["kind"] for r in rows))
