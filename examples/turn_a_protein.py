"""A protein as a mechanism: read it, turn it, write it, close a loop in all ways, go down its energy.

Writes ``turned.pdb``, ``closed.cif`` and ``protein_energy.jpg`` to the current folder.
"""

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

import rattleback as rb
from rattleback.recording.style import ACCENT, QUIET, label, tidy

# Two chains, one of them broken, with a disulfide, a proline, an alternative location, an ion and waters.
hairpin = rb.molecules.load(Path(__file__).parent / "molecules" / "hairpin.pdb")
print(hairpin)

hairpin.psi["A:5B"] -= 0.4
print(f"Turned by 0.4 rad, it stretches its disulfide by {hairpin.loop_gaps()[0]:.2f} Å.")
hairpin.save("turned.pdb")
hairpin.psi["A:5B"] += 0.4

loop = rb.molecules.close_loop(hairpin, "A", 2, 8, starts=20, seed=1)
clashes = [len(loop.clashes(k)) for k in range(len(loop))]
best = int(np.argmin(clashes))
print(f"{loop}: off by {loop.miss.max():.0e} Å at most, {min(clashes)} to {max(clashes)} clashes.")
loop.apply(best)
hairpin.save("closed.cif")

strand = rb.molecules.peptide("NLYIQWLKDGGPSSGRPPPS", phi=np.pi, psi=np.pi)
field = rb.molecules.TVH(strand)
down = rb.molecules.minimise(field)
print(
    f"{down.reason} From {down.energies[0]:.1f} to {down.energies[-1]:.1f} kcal/mol in {len(down.energies) - 1} steps."
)

figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.4), dpi=80)
left.plot(down.energies, color=ACCENT)
left.set_yscale("symlog", linthresh=30.0)
label(left, "step", "energy [kcal/mol]")
phi, psi = strand.phi.values, strand.psi.values
strand.q = down.q
right.plot(np.degrees(phi), np.degrees(psi), "o", color=QUIET[1], label="at the start")
right.plot(np.degrees(strand.phi.values), np.degrees(strand.psi.values), "o", color=ACCENT, label="at the minimum")
right.set(xlim=(-185.0, 185.0), ylim=(-185.0, 185.0))
right.legend(frameon=False, fontsize=8)
label(right, "φ [°]", "ψ [°]")
for axes in (left, right):
    tidy(axes)
figure.tight_layout()
figure.savefig("protein_energy.jpg", pil_kwargs={"quality": 85, "subsampling": 0})
plt.close(figure)
