"""The C++ preamble of kernels fits the installed Warp; a Warp that it does not fit is told by a sentence."""

from pathlib import Path

import pytest
import warp as wp

from rattleback.core import warp_preamble
from rattleback.core.device import start
from rattleback.core.kernel import lone_kernel
from rattleback.core.precision import real
from rattleback.core.warp_preamble import GENERATED, PREAMBLE, build_options

ADVICE = (
    "remove this part from PREAMBLE in core/warp_preamble.py, or adapt it and GENERATED there, then measure what it "
    "saves. Every kernel is right without it, only slower; until then pin Warp in pyproject.toml."
)


@lone_kernel
def largest_below_three(a: wp.array[real], out: wp.array[real]) -> None:
    i = wp.tid()
    found = real(0.0)
    for j in range(i, 5, 2):
        found = wp.max(found, wp.min(a[j], real(3.0)))
    out[i] = found


def generated(folder: Path) -> str:
    """The C++ that the installed Warp writes for the kernel above; a failing test where it does not compile."""
    start()
    try:
        wp.compile_aot_module(largest_below_three.module, device="cpu", module_dir=folder)
    except Exception as fault:
        pytest.fail(f"The preamble does not compile with Warp {wp.__version__} ({fault}): {ADVICE}", pytrace=False)
    return "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.cpp"))


def parts_that_do_not_act(source: str) -> list[str]:
    """A sentence for every part of the preamble that has nothing to act on."""
    kernel = source.replace(PREAMBLE, "")
    return [
        f"Warp {wp.__version__} does not generate {text!r}, which {part} relies on: {ADVICE}"
        for part, texts in GENERATED.items()
        for text in texts
        if text not in kernel
    ]


def test_the_preamble_compiles_and_acts_with_the_installed_warp(tmp_path: Path) -> None:
    source = generated(tmp_path)
    assert PREAMBLE in source
    if missing := parts_that_do_not_act(source):
        pytest.fail("\n".join(missing), pytrace=False)


def test_a_warp_that_generates_other_code_is_named_with_the_part_and_what_to_do(tmp_path: Path) -> None:
    source = generated(tmp_path)
    (sentence,) = parts_that_do_not_act(source.replace("wp::range_t var_", "auto var_"))
    assert "does not generate 'wp::range_t var_', which PLAIN_RANGES relies on: remove this part" in sentence
    assert len(parts_that_do_not_act(source.replace("wp::", "warp::"))) > 5


def test_every_part_of_the_preamble_says_what_it_relies_on() -> None:
    parts = {name for name in vars(warp_preamble) if name.startswith("PLAIN_")}
    assert set(GENERATED) == parts
    assert "".join(vars(warp_preamble)[name] for name in GENERATED) == PREAMBLE


@pytest.mark.parametrize("options", [None, lambda: None])
def test_a_warp_without_preambles_is_refused_with_the_version_that_would_do(options, monkeypatch) -> None:
    if options is None:
        monkeypatch.delattr(wp, "ModuleBuildOptions")
    else:
        monkeypatch.setattr(wp, "ModuleBuildOptions", options)
    with pytest.raises(ImportError, match=r"takes no C\+\+ for its modules .*\"warp-lang>=1\.19,<1\.20\" does"):
        build_options()
