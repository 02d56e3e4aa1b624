"""Files that tests of molecules read: the project's own, and those in ``shared/data`` beside the checkout."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HAIRPIN = ROOT / "examples" / "molecules" / "hairpin.pdb"
SHARED = ROOT.parent / "shared" / "data"
FILES = sorted((SHARED / "pdb").glob("*.gz"))
needs_shared = pytest.mark.skipif(not FILES, reason="the structures are not in ../shared/data/pdb")
