#!/usr/bin/env python3
"""Check histories: every answer must be a sentence, list item or table row of its history.

    check.py histories-*.jsonl
"""
import json
import re
import sys


def plain(text):
    """Return a text without marks, with single spaces."""
    return " ".join(re.sub(r"[*`|]", " ", text).split())


def problems(history):
    messages = [message["text"] for part in history["conversations"] for message in part["messages"]]
    documents = [document["text"] for document in history.get("documents", [])]
    lines = [plain(line) for text in messages + documents for line in text.split("\n")]
    quoted = [text for asked in history["asked"] for text in [asked["answer"], *asked.get("outdated", [])]]
    quoted += [then["answer"] for then in history.get("then", [])]
    for text in quoted:
        if not any(plain(text) in line for line in lines):
            yield f"not in the history: {text!r}"
    if any(then["after"] >= len(history["asked"]) for then in history.get("then", [])):
        yield "a follow-up follows no question"


def main():
    count = 0
    for path in sys.argv[1:]:
        for line in open(path, encoding="utf-8"):
            history = json.loads(line)
            for problem in problems(history):
                print(f"{history['id']}: {problem}")
                count += 1
    sys.exit(f"{count} problems" if count else 0)


main()
