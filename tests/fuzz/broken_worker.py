"""A worker for the tests of the pool: scene 1 hangs, scene 3 crashes, all others are fine."""

import json
import os
import signal
import sys
import time

for seed in range(int(sys.argv[1]), int(sys.argv[2])):
    print(json.dumps({"begin": seed}), flush=True)
    if seed == 1:
        time.sleep(60.0)
    if seed == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    print(json.dumps({"seed": seed, "found": []}), flush=True)
