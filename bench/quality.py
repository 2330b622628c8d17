#!/usr/bin/env python3
"""Compares recall quality on LoCoMo with BM25, dense MiniLM and their reciprocal rank fusion.

    python quality.py [--data DIRECTORY]

DIRECTORY contains locomo-dev.json and score.py, which scores all systems. It defaults to LOCOMO, or ../shared/eval next to the
project. The peers rank the turns of the question's own conversation; Memoir runs `memoir eval recall` in each of its three modes.
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
METRICS = ("R@5", "R@10", "R@25", "R@50", "MRR")


def turns_of(conversation):
    for session in conversation["sessions"]:
        for turn in session["turns"]:
            yield turn["id"], f"{turn['speaker']}: {turn['text']}", session["date"]


def rank(ids, scores):
    return [ids[position] for position in np.argsort(-scores, kind="stable")]


def bm25(texts, questions, stemmed):
    """Returns the scores of all texts for each question, using Lucene's BM25 with its default constants."""
    options = {"stopwords": "en", "stemmer": Stemmer.Stemmer("english")} if stemmed else {"stopwords": None, "stemmer": None}
    tokens = bm25s.tokenize(texts, show_progress=False, return_ids=False, **options)
    index = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    index.index(tokens, show_progress=False)
    queries = bm25s.tokenize(questions, show_progress=False, return_ids=False, **options)
    return [index.get_scores(words) if words else np.zeros(len(texts)) for words in queries]


def fuse(rankings):
    scores = {}
    for ranking in rankings:
        for position, name in enumerate(ranking, 1):
            scores[name] = scores.get(name, 0) + 1 / (RRF + position)
    return sorted(scores, key=lambda name: -scores[name])


def rank_with_peers(data):
    """Returns the rankings of each peer by question."""
    model = minilm.MiniLm()
    rankings = {}

    def add(name, question, ranking):
        rankings.setdefault(name, {})[question["id"]] = ranking

    for conversation in data:
        ids, texts, dates = zip(*turns_of(conversation))
        questions = conversation["questions"]
        prompts = [question["question"] for question in questions]
        plain, stemmed = bm25(texts, prompts, False), bm25(texts, prompts, True)
        dated = bm25([f"{date} {text}" for date, text in zip(dates, texts)], prompts, True)
        cosines = model.embed(prompts) @ model.embed(list(texts)).T
        for position, question in enumerate(questions):
            words, dense = rank(ids, dated[position]), rank(ids, cosines[position])
            add("BM25, words as they are", question, rank(ids, plain[position]))
            add("BM25, stems, no stop words", question, rank(ids, stemmed[position]))
            add("BM25, the same with the date", question, words)
            add("dense MiniLM", question, dense)
            add("RRF of the last two", question, fuse([words, dense]))
    return rankings


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("LOCOMO", common.ROOT.parent / "shared" / "eval"), type=pathlib.Path)
    directory = parser.parse_args().data
    data = json.loads((directory / "locomo-dev.json").read_text())
    spec = importlib.util.spec_from_file_location("score", directory / "score.py")
    score = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(score)
    figures = {}
    program = common.memoir()
    with tempfile.TemporaryDirectory() as home:
        for mode, name in (("hybrid", "Memoir, hybrid"), ("keyword", "Memoir, words alone"), ("dense", "Memoir, meaning alone")):
            out = pathlib.Path(home) / f"{mode}.jsonl"
            subprocess.run([program, "eval", "recall", directory / "locomo-dev.json", "--mode", mode, "--out", out], check=True,
                           env={**os.environ, "MEMOIR_HOME": home}, stdout=subprocess.DEVNULL)
            figures[name] = score.score(data, score.read_predictions(out, data))[0]["all"]
    for name, rankings in rank_with_peers(data).items():
        figures[name] = score.score(data, rankings)[0]["all"]
    common.save("quality", {"figures": {name: {key: 100 * row[key] for key in METRICS} for name, row in figures.items()},
                            "questions": figures["Memoir, hybrid"]["n"]})
    ours = figures["Memoir, hybrid"]
    print(f"{'':<32}" + "".join(f"{key:>8}" for key in METRICS) + f"{'R@10 x ours':>14}")
    for name, row in figures.items():
        print(f"{name:<32}" + "".join(f"{100 * row[key]:>8.1f}" for key in METRICS) + f"{common.ratio(row['R@10'], ours['R@10']):>14}")


if __name__ == "__main__":
    main()
