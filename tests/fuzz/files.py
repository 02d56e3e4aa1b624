"""Judges spoilt scene and state files, one line of JSON for each: ``python -m fuzz.files FIRST END``."""

import faulthandler
import json
import resource
import sys
import tempfile
from pathlib import Path

from fuzz.file_mutations import spoilt
from fuzz.file_verdict import PATIENCE, judge_file
from rattleback.shapes import convex_search

# What a file of some kilobytes may take of memory beyond what the process has mapped by then [bytes].
MEMORY = 16 * 2**30

if __name__ == "__main__":
    first, end = (int(argument) for argument in sys.argv[1:3])
    faulthandler.enable()
    # Spoilt meshes may cut themselves in as many ways as there are triangles; that CoACD is given up is seen sooner.
    convex_search.PATIENCE = 0.5 * PATIENCE
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.RLIM_INFINITY))
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, end):
            print(json.dumps({"begin": number}), flush=True)
            print(json.dumps(judge_file(number, *spoilt(number), Path(folder))), flush=True)
