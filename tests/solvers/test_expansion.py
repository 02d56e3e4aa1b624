"""Poisson's and Stronge's hypotheses beside references that integrate an impact at one point in NumPy."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.scenes.impacts import ROD_ANGLES, ROD_SPINS, double_pendulum_impact
from rattleback.solvers.contacts import Impulse

STILL = {"time_step": 1e-9, "contact_distance": 1e-4, "contact_velocity_tolerance": 1e-10, "velocity_tolerance": 1e-10}


def end_of_phase(k: np.ndarray, u: np.ndarray, friction: float, goal: float | None, push: float = 0.0) -> np.ndarray:
    """Impulse (p_t, p_n) in the plane after which u_n is a goal, or p_n a push, and friction opposes the slip then."""
    if goal is None:
        stuck = np.array([-(u[0] + k[0, 1] * push) / k[0, 0], push])
    else:
        stuck = np.linalg.solve(k, np.array([0.0, goal]) - u)
    if abs(stuck[0]) <= friction * stuck[1]:
        return stuck
    for sign in (1.0, -1.0):
        way = np.array([-sign * friction, 1.0])
        p = way * (push if goal is None else (goal - u[1]) / (k @ way)[1])
        if p[1] >= 0.0 and sign * (u + k @ p)[0] >= 0.0:
            return p
    raise AssertionError("no slip is consistent")


def follow_impact(k: np.ndarray, u: np.ndarray, friction: float, e: float, steps: int = 4000) -> np.ndarray:
    """Impulse (n, t, s) of impacts (…, 3) by Stronge: tiny pushes along n, with friction against the slip.

    Each ends when e² of the work of compression has come back.
    """
    u, p, push = u.copy(), np.zeros_like(u), -u[:, 0] / k[:, 0, 0] / steps
    lost, won, active = np.zeros(len(u)), np.zeros(len(u)), u[:, 0] < 0.0
    while active.any():
        slip = np.linalg.norm(u[:, 1:], axis=1, keepdims=True)
        dp = push[:, None] * np.concatenate([np.ones((len(u), 1)), -friction * u[:, 1:] / np.maximum(slip, 1e-30)], 1)
        du = np.einsum("wij,wj->wi", k, dp)
        work = dp[:, 0] * (u[:, 0] + 0.5 * du[:, 0])
        lost += np.where(active & (work < 0.0), -work, 0.0)
        won += np.where(active & (work > 0.0), work, 0.0)
        active &= won <= e**2 * lost
        u, p = u + np.where(active, 1.0, 0.0)[:, None] * du, p + np.where(active, 1.0, 0.0)[:, None] * dp
    return p


class DoublePendulum:
    """The two rods of the scene by the speeds of their angles."""

    def __init__(self, spin: float = 1.0) -> None:
        (a, b), c = ROD_ANGLES, 0.5 * np.cos(ROD_ANGLES[0] - ROD_ANGLES[1])
        self.mass = np.array([[4.0 / 3.0, c], [c, 1.0 / 3.0]])
        self.tip = -np.array([[np.cos(a), np.cos(b)], [np.sin(a), np.sin(b)]])
        self.spins = spin * np.array(ROD_SPINS)
        self.give = self.tip @ np.linalg.solve(self.mass, self.tip.T)

    def struck(self, p: np.ndarray) -> np.ndarray:
        return self.spins + np.linalg.solve(self.mass, self.tip.T @ p)

    def by_law(self, law: str, friction: float, e: float) -> np.ndarray:
        u = self.tip @ self.spins
        if law == "newton":
            return self.struck(end_of_phase(self.give, u, friction, -e * u[1]))
        if law == "poisson":
            pressed = end_of_phase(self.give, u, friction, 0.0)
            back = end_of_phase(self.give, u + self.give @ pressed, friction, None, e * pressed[1])
            return self.struck(pressed + back)
        k = np.zeros((1, 3, 3))
        k[0] = np.array([[self.give[1, 1], self.give[1, 0], 0], [self.give[0, 1], self.give[0, 0], 0], [0, 0, 1.0]])
        p = follow_impact(k, np.array([[u[1], u[0], 0.0]]), friction, e)[0]
        return self.struck(p[[1, 0]])


def strike(law: str, friction: float, e: float) -> tuple[np.ndarray, float]:
    """Angular velocities of the rods after they struck the ground, and the energy that was gained."""
    scene = double_pendulum_impact(friction, e)
    sim = rb.Simulation(scene, contacts=Impulse(restitution=law), **STILL)
    before = sim.energy().total
    sim.step()
    return sim.state.angular_velocity[-2:, 1].copy(), sim.energy().total - before


@pytest.mark.parametrize("friction", [0.0, 0.1, 0.3, 0.5, 0.8])
@pytest.mark.parametrize(("law", "tolerance"), [("newton", 1e-6), ("poisson", 1e-6), ("stronge", 5e-3)])
def test_a_double_pendulum_strikes_as_the_law_says(law: str, tolerance: float, friction: float) -> None:
    spins, _ = strike(law, friction, 0.5)
    np.testing.assert_allclose(spins, DoublePendulum().by_law(law, friction, 0.5), atol=tolerance)


def test_newton_creates_energy_in_a_double_pendulum_and_stronge_does_not() -> None:
    assert strike("newton", 0.5, 0.5)[1] > 0.5
    for friction in (0.1, 0.3, 0.5, 0.8):
        for e in (0.5, 1.0):
            assert strike("stronge", friction, e)[1] < 1e-9


def test_stronge_follows_the_slip_of_oblique_impacts_as_it_turns() -> None:
    worlds, friction, e, mass, size = 200, 0.4, 0.7, 1.5, np.array([1.0, 0.7, 0.4])
    rng = np.random.default_rng(3)
    scene = rb.Scene(gravity=(0.0, 0.0, 0.0))
    scene.add_static(rb.Plane(), material=rb.Material(friction=0.0, restitution=1.0))
    surface = rb.Material(friction=friction, restitution=e)
    scene.add_body(rb.Box(*size), mass=mass, position=(0, 0, 5), name="box", material=surface)
    sim = rb.Simulation(scene, contacts=Impulse(restitution="stronge"), worlds=worlds, **STILL)
    turn = Rotation.random(worlds, random_state=rng).as_matrix()
    corner = np.einsum("wij,wj->wi", turn, -0.5 * size * np.sign(turn[:, 2, :]))
    velocity, spin = rng.normal(size=(worlds, 3)) - (0, 0, 1), rng.normal(size=(worlds, 3))
    sim["box"].orientation = Rotation.from_matrix(turn).as_quat()
    sim["box"].position = corner * (0, 0, -1.0)
    sim["box"].velocity, sim["box"].angular_velocity = velocity, spin
    sim.step()
    inertia = (
        mass / 12.0 * np.diag([size[1] ** 2 + size[2] ** 2, size[0] ** 2 + size[2] ** 2, size[0] ** 2 + size[1] ** 2])
    )
    inverse = np.einsum("wij,jk,wlk->wil", turn, np.linalg.inv(inertia), turn)
    arm = np.cross(np.eye(3)[None], corner[:, None, :])
    give = np.eye(3) / mass + np.einsum("wij,wjk,wlk->wil", -arm, inverse, -arm)
    axes = [2, 0, 1]
    u = (velocity + np.cross(spin, corner))[:, axes]
    p = follow_impact(give[:, axes][:, :, axes], u, friction, e)[:, [1, 2, 0]]
    np.testing.assert_allclose(sim["box"].velocity, velocity + p / mass, atol=0.02)
    turned = spin + np.einsum("wij,wj->wi", inverse, np.cross(corner, p))
    assert np.quantile(np.abs(sim["box"].angular_velocity - turned).max(axis=1), 0.9) < 0.02
