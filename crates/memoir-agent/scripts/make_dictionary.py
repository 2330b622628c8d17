#!/usr/bin/env python3
"""Builds assets/english.{aff,dic} from the npm packages dictionary-en and dictionary-en-au.

Both are derived from SCOWL and have the same affix file. Together they contain American and British spellings, so that neither
counts as a mistake.
"""

import pathlib, subprocess, sys, tarfile, tempfile

ASSETS = pathlib.Path(__file__).resolve().parent.parent / "assets"


def read_package(name):
    with tempfile.TemporaryDirectory() as directory:
        result = subprocess.run(["npm", "pack", name], cwd=directory, check=True, capture_output=True, text=True)
        with tarfile.open(pathlib.Path(directory) / result.stdout.split()[-1]) as archive:
            return {
                file: archive.extractfile(f"package/{file}").read().decode()
                for file in ("index.aff", "index.dic", "license")
            }


american, british = read_package("dictionary-en"), read_package("dictionary-en-au")
if american["index.aff"] != british["index.aff"]:
    sys.exit("the affix files differ, so the word lists cannot be merged")
words = sorted(set(american["index.dic"].splitlines()[1:]) | set(british["index.dic"].splitlines()[1:]))
ASSETS.joinpath("english.aff").write_text(american["index.aff"])
ASSETS.joinpath("english.dic").write_text("\n".join([str(len(words)), *words]) + "\n")
ASSETS.joinpath("english.LICENSE").write_text(american["license"])
print(len(words), "words")
