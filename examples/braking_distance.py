"""How far a sledge slides: 200 variants of a scene, side by side, compared with v² / (2 µ g).

Writes the table and the motion of all variants to braking/ and the picture braking.png. Run again, it computes nothing.
"""

import numpy as np

import rattleback as rb

GRAVITY = 9.81


def sledge() -> rb.Scene:
    """A sledge on level ground, which takes its friction from the sledge alone."""
    scene = rb.Scene(name="sledge", gravity=(0.0, 0.0, -GRAVITY))
    scene.add_static(rb.Plane(), name="ground", material=rb.Material(friction=0.0))
    scene.add_body(rb.Box(1.0, 0.5, 0.2), mass=30.0, position=(0.0, 0.0, 0.1), velocity=(5.0, 0.0, 0.0), name="sledge")
    return scene


def main() -> None:
    """Run what is missing, and compare."""
    speeds, frictions = np.linspace(1.0, 6.0, 20), np.linspace(0.2, 0.65, 10)
    result = rb.sweep(
        sledge(),
        {"sledge.velocity": [(speed, 0.0, 0.0) for speed in speeds], "sledge.friction": frictions},
        store="braking",
        duration=3.2,
        time_step=0.01,
        record=["sledge.position"],
        results={"distance": "sledge.position.x", "left": "sledge.velocity.x"},
        every=10,
    )
    speed, friction = result["sledge.velocity"][:, 0], result["sledge.friction"]
    exact = speed**2 / (2.0 * friction * GRAVITY)
    worst = np.abs(result["distance"] - exact).max()
    print(f"{len(result)} variants, {len(result.failed)} failed.")
    print(f"The longest way is {exact.max():.3f} m; the worst is off by {1e3 * worst:.2f} mm.")
    result.plot_main_effects("distance", path="braking.png")


if __name__ == "__main__":
    main()
