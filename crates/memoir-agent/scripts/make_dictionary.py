#!/usr/bin/env python3
"""Makes assets/english.{aff,dic} from the registry packages dictionary-en and dictionary-en-au (npm).

Both are made from SCOWL and share their affix file. Together they hold American and British spellings, so that neither is
taken for a mistake.
"""

import pathlib, subprocess, sys, tarfile, tempfile

ASSETS = pathlib.Path(__file__).resolve().parent.parent / "assets"


def read(name):
    with tempfile.TemporaryDirectory() as directory:
        packed = subprocess.run(["npm", "pack", name], cwd=directory, check=True, capture_output=True, text=True)
        with tarfile.open(pathlib.Path(directory) / packed.stdout.split()[-1]) as archive:
            return {
                file: archive.extractfile(f"package/{file}").read().decode()
                for file in ("index.aff", "index.dic", "license")
            }


american, british = read("dictionary-en"), read("dictionary-en-au")
if american["index.aff"] != british["index.aff"]:
    sys.exit("the affix files differ: the words cannot be put into one list")
words = sorted(set(american["index.dic"].splitlines()[1:]) | set(british["index.dic"].splitlines()[1:]))
ASSETS.joinpath("english.aff").write_text(american["index.aff"])
ASSETS.joinpath("english.dic").write_text("\n".join([str(len(words)), *words]) + "\n")
ASSETS.joinpath("english.LICENSE").write_text(american["license"])
print(len(words), "words")
