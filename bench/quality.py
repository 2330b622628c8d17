#!/usr/bin/env python3
"""Recall quality on LoCoMo beside BM25, dense MiniLM and their reciprocal rank fusion.

    python quality.py [--data FOLDER]

FOLDER holds locomo-dev.json and score.py, which judges everyone; it is ../shared/eval beside the project, or LOCOMO. The peers rank the
turns of a question's own conversation by themselves; ours is `memoir eval recall`, in each of its three modes.
"""
import argparse
import importlib.util
import json
import os
import pathlib
import subprocess
import tempfile

import bm25s
import numpy as np
import Stemmer

import common
import minilm

RRF = 60
SHOWN = ("R@5", "R@10", "R@25", "R@50", "MRR")


def turns_of(conversation):
    for session in conversation["sessions"]:
        for turn in session["turns"]:
            yield turn["id"], f"{turn['speaker']}: {turn['text']}", session["date"]


def by_score(ids, scores):
    return [ids[place] for place in np.argsort(-scores, kind="stable")]


def bm25(texts, questions, stemmed):
    """The scores of all texts for each question: Lucene's BM25 with its constants."""
    kind = {"stopwords": "en", "stemmer": Stemmer.Stemmer("english")} if stemmed else {"stopwords": None, "stemmer": None}
    tokens = bm25s.tokenize(texts, show_progress=False, return_ids=False, **kind)
    index = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    index.index(tokens, show_progress=False)
    asked = bm25s.tokenize(questions, show_progress=False, return_ids=False, **kind)
    return [index.get_scores(words) if words else np.zeros(len(texts)) for words in asked]


def fused(rankings):
    scores = {}
    for ranking in rankings:
        for place, name in enumerate(ranking, 1):
            scores[name] = scores.get(name, 0) + 1 / (RRF + place)
    return sorted(scores, key=lambda name: -scores[name])


def peers(data):
    """What each peer ranks, by question."""
    model = minilm.MiniLm()
    print(f"MiniLM: cosine with the original's vectors at least {model.check():.4f}")
    ranked = {}

    def note(name, question, ranking):
        ranked.setdefault(name, {})[question["id"]] = ranking

    for conversation in data:
        ids, texts, dates = zip(*turns_of(conversation))
        questions = conversation["questions"]
        asked = [question["question"] for question in questions]
        plain, stemmed = bm25(texts, asked, False), bm25(texts, asked, True)
        dated = bm25([f"{date} {text}" for date, text in zip(dates, texts)], asked, True)
        near = model.embed(asked) @ model.embed(list(texts)).T
        for place, question in enumerate(questions):
            words, dense = by_score(ids, dated[place]), by_score(ids, near[place])
            note("BM25, words as they are", question, by_score(ids, plain[place]))
            note("BM25, stems, no stop words", question, by_score(ids, stemmed[place]))
            note("BM25, the same with the date", question, words)
            note("dense MiniLM", question, dense)
            note("RRF of the last two", question, fused([words, dense]))
    return ranked


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("LOCOMO", common.ROOT.parent / "shared" / "eval"), type=pathlib.Path)
    folder = parser.parse_args().data
    data = json.loads((folder / "locomo-dev.json").read_text())
    loaded = importlib.util.spec_from_file_location("score", folder / "score.py")
    score = importlib.util.module_from_spec(loaded)
    loaded.loader.exec_module(score)
    figures = {}
    program = common.memoir()
    with tempfile.TemporaryDirectory() as home:
        for mode, name in (("hybrid", "Memoir, hybrid"), ("keyword", "Memoir, words alone"), ("dense", "Memoir, meaning alone")):
            out = pathlib.Path(home) / f"{mode}.jsonl"
            subprocess.run([program, "eval", "recall", folder / "locomo-dev.json", "--mode", mode, "--out", out], check=True,
                           env={**os.environ, "MEMOIR_HOME": home}, stdout=subprocess.DEVNULL)
            figures[name] = score.score(data, score.read_predictions(out, data))[0]["all"]
    for name, ranked in peers(data).items():
        figures[name] = score.score(data, ranked)[0]["all"]
    common.save("quality", {"figures": {name: {key: 100 * row[key] for key in SHOWN} for name, row in figures.items()},
                            "questions": figures["Memoir, hybrid"]["n"]})
    ours = figures["Memoir, hybrid"]
    print(f"{'':<32}" + "".join(f"{key:>8}" for key in SHOWN) + f"{'R@10 x ours':>14}")
    for name, row in figures.items():
        print(f"{name:<32}" + "".join(f"{100 * row[key]:>8.1f}" for key in SHOWN) + f"{common.ratio(row['R@10'], ours['R@10']):>14}")


if __name__ == "__main__":
    main()
