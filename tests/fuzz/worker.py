"""Judges random mechanisms, one line of JSON for each: ``python -m fuzz.worker FIRST END STEPS``."""

import json
import sys

from fuzz.random_mechanism import draw
from fuzz.verdict import judge

if __name__ == "__main__":
    first, end, steps = (int(argument) for argument in sys.argv[1:])
    for seed in range(first, end):
        print(json.dumps({"begin": seed}), flush=True)
        print(json.dumps(judge(draw(seed), steps)), flush=True)
