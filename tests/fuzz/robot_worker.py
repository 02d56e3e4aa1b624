"""Loads damaged robot files in a process of its own: ``python -m fuzz.robot_worker KIND FIRST LAST``."""

import json
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

import rattleback as rb
from fuzz.robot_files import ENDINGS, damaged

PATIENCE = 20.0


def judge(kind: str, number: int, folder: Path) -> dict[str, Any]:
    """What becomes of one file: loaded or refused; anything else is found."""
    path = folder / f"robot{ENDINGS[kind]}"
    path.write_bytes(damaged(kind, number))
    begun, found = time.process_time(), []
    end = "loaded"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            scene = rb.Scene.from_file(path)
            if not scene.import_report.entries:
                found.append("nothing is reported")
    except rb.FileError as error:
        end = "refused"
        if str(path) not in str(error):
            found.append(f"the file is not named: {error}")
    except Exception as error:
        end = "exception"
        found.append("".join(traceback.format_exception(error)[-4:]))
    if (spent := time.process_time() - begun) > PATIENCE:
        found.append(f"it took {spent:.1f} s")
    return {"kind": kind, "number": number, "end": end, "found": found}


def main() -> None:
    kind, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, last):
            print(f"begin {number}", flush=True)
            print(json.dumps(judge(kind, number, Path(folder))), flush=True)


if __name__ == "__main__":
    main()
