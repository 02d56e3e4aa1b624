"""The example learns to balance the pole as long as an episode lasts, in the time it promises."""

import runpy
import time
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "learning" / "cart_pole.py"


@pytest.mark.slow
def test_the_example_balances_the_pole_to_the_end_after_two_minutes_at_most() -> None:
    """CPU time, which other programs on the machine do not add to; every new episode lasts to its limit."""
    pytest.importorskip("stable_baselines3", reason="needs Stable-Baselines3: pip install stable-baselines3")
    pytest.importorskip("gymnasium", reason="needs Gymnasium: pip install 'rattleback[gym]'")
    begun = time.process_time()
    example = runpy.run_path(str(EXAMPLE))
    policy, _ = example["train"]()
    assert time.process_time() - begun < 120.0
    assert example["judge"](policy).tolist() == [example["LIMIT"]] * 100
