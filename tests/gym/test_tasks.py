"""What tasks are made of: actions that act, observations that are read, starts that are drawn, and sentences."""

from typing import Any

import numpy as np
import pytest

import rattleback as rb

pytest.importorskip("gymnasium", reason="needs Gymnasium: pip install 'rattleback[gym]'")


def zero(step: Any) -> np.ndarray:
    return np.zeros(len(step.observation))


def slider() -> rb.Scene:
    """A block of 2 kg on a rail, another of 0.5 kg that flies, and a hinge with a servo."""
    scene = rb.Scene(gravity=(0, 0, 0))
    block = scene.add_body(rb.Box(0.2, 0.2, 0.2), mass=2.0, name="block")
    scene.add_body(rb.Sphere(0.1), mass=0.5, position=(0, 3, 0), name="ball")
    arm = scene.add_body(rb.Box(0.4, 0.1, 0.1), mass=1.0, position=(0, -3, 0), name="arm")
    scene.add_joint(rb.Prismatic(scene.world, block, at=(0, 0, 0), axis=(1, 0, 0)), name="rail")
    scene.add_joint(rb.Revolute(scene.world, arm, at=(0, -3, 0), axis=(0, 0, 1)), name="hinge")
    scene.add_force(rb.Servo("hinge", gain=5.0, rate_time=0.3), name="motor")
    return scene


def make(**options: Any) -> rb.gym.VectorEnv:
    given = {
        "observe": ["rail.velocity", "ball.velocity", "hinge.angle"],
        "act": [rb.gym.Effort("rail", scale=3.0), rb.gym.Push("ball", (0, 0, 1), scale=2.0), rb.gym.Target("motor")],
        "reward": zero,
        "joints": "reduced",
        "time_step": 0.01,
    }
    return rb.gym.VectorEnv(slider, worlds=2, **{**given, **options})


def test_actions_are_forces_on_rails_and_bodies_and_targets_of_servos() -> None:
    """v = F t / m in each world, actions out of bounds are clipped, and the servo arrives."""
    env = make(steps=10)
    assert env.observation_names == [
        "rail.velocity", "ball.velocity.x", "ball.velocity.y", "ball.velocity.z", "hinge.angle",
    ]  # fmt: skip
    env.reset(seed=0)
    for _ in range(100):
        seen, *_ = env.step([[0.5, -1.0, 0.3], [-5.0, 0.25, -0.6]])
    assert seen[:, 0] == pytest.approx([0.5 * 3.0 * 10.0 / 2.0, -3.0 * 10.0 / 2.0], rel=1e-6)
    assert seen[:, 3] == pytest.approx([-2.0 * 10.0 / 0.5, 0.5 * 10.0 / 0.5], rel=1e-6)
    assert seen[:, 4] == pytest.approx([0.3, -0.6], abs=1e-4)


def test_functions_see_the_whole_step_of_all_worlds() -> None:
    seen: list[Any] = []

    def reward(step: Any) -> np.ndarray:
        seen.append(step)
        return step.observation[:, 0] - step.before[:, 0]

    def speed(sim: rb.Simulation) -> np.ndarray:
        return sim["ball"].velocity[:, 2]

    env = make(observe=[speed, "rail.position"], reward=reward, done=lambda step: step.observation[:, 0] > 0.039)
    assert env.observation_names == ["speed", "rail.position"]
    env.reset(seed=0)
    _, got, done, _, _ = env.step([[0, 0.9, 0], [0, 1.0, 0]])
    assert got == pytest.approx([0.036, 0.04])
    assert done.tolist() == [False, True]
    assert seen[0].action.tolist() == [[0, 0.9, 0], [0, 1.0, 0]]


def test_starts_are_drawn_for_each_world_by_its_seed() -> None:
    start = {
        "rail.position": (-1.0, 1.0),
        "rail.velocity": 0.25,
        "hinge.angle": (4.0, 5.0),
        "ball.position": ((0, 3, 0), (1, 3, 0)),
    }
    observe = ["rail.position", "rail.velocity", "hinge.angle", "ball.position"]
    few, many = make(start=start, observe=observe), rb.gym.VectorEnv(
        slider, worlds=70, start=start, observe=observe, act=rb.gym.Effort("rail"), reward=zero, joints="reduced"
    )  # fmt: skip
    two, _ = few.reset(seed=[11, 69])
    all_of_them, _ = many.reset(seed=0)
    assert np.array_equal(two[0], all_of_them[11])
    assert np.array_equal(two[1], all_of_them[69])
    low, high = all_of_them.min(axis=0), all_of_them.max(axis=0)
    assert (low >= [-1, 0.25, 4, 0, 3, 0]).all()
    assert (high <= [1, 0.25, 5, 1, 3, 0]).all()
    assert low[0] < -0.8 < 0.8 < high[0]
    assert high[2] - low[2] > 0.8
    again, _ = many.reset()
    assert (again[:, 0] != all_of_them[:, 0]).all()


def test_a_start_may_be_a_function_of_the_simulation_and_the_draws() -> None:
    def spin(sim: rb.Simulation, draws: rb.gym.Draws) -> None:
        sim.state.array("angular_velocity").numpy()[draws.worlds, 1] = draws.normal(0.0, 2.0, 3)
        sim.state.changed(draws.worlds)

    env = make(start=spin, observe="ball.angular_velocity")
    first, _ = env.reset(seed=1)
    assert first.all()
    assert np.array_equal(env.reset(seed=1)[0], first)


def test_parameters_of_worlds_vary_and_are_drawn_anew_in_place() -> None:
    """A force of one newton gives each block the velocity t / m of its own mass, before and after."""
    vary = {"block.mass": rb.uniform(1.0, 5.0)}
    env = make(vary=vary, seed=2, act=rb.gym.Effort("rail"), steps=10, start={"hinge.angle": 0.1})
    drawn = []
    for seed in (None, 5, 6):
        env.reset(seed=0, options={"vary": seed})
        seen, *_ = env.step(np.ones((2, 1)))
        drawn.append(np.array(env.simulation.parameters["block.mass"]))
        assert seen[:, 0] == pytest.approx(0.1 / drawn[-1], rel=1e-6)
    assert len(np.unique(drawn)) == 6
    assert np.array_equal(rb.Simulation(slider(), worlds=2, vary=vary, seed=5).parameters["block.mass"], drawn[1])
    with pytest.raises(rb.InputError, match="There is nothing to draw anew: vary has no distributions"):
        make().reset(options={"vary": 1})
    placed = {"vary": {"rail.at": rb.uniform((0, 0, 0), (0, 0, 1))}}
    with pytest.raises(rb.InputError, match="'rail.at' cannot be drawn anew in worlds that exist"):
        make(**placed).reset(options={"vary": 1})
    with pytest.raises(rb.InputError, match="needs bodies and joints in the same places in all worlds"):
        make(**placed, start={"hinge.angle": 0.1})


def test_draws_are_uniform_and_normal_and_do_not_repeat() -> None:
    """Moments of a million numbers, and neighbours in seed, episode and place that are not alike."""
    worlds = np.arange(10_000)
    draws = rb.gym.Draws(worlds, worlds.astype(np.uint64), np.ones(10_000, dtype=np.uint64))
    found = draws.uniform(size=50)
    assert found.mean() == pytest.approx(0.5, abs=3 * 12**-0.5 / 707)
    assert found.var() == pytest.approx(1 / 12, rel=0.01)
    assert len(np.unique(found)) == found.size
    near = [
        np.corrcoef(found[:, :-1].ravel(), found[:, 1:].ravel())[0, 1],
        np.corrcoef(found[:-1, 0], found[1:, 0])[0, 1],
    ]
    assert np.abs(near).max() < 0.03
    normal = draws.normal(2.0, 3.0, 50)
    assert (normal.mean(), normal.std()) == (pytest.approx(2.0, abs=0.02), pytest.approx(3.0, rel=0.01))


def test_observations_are_clipped_to_their_bounds() -> None:
    env = make(bounds=(-1.0, [1, 2, 2, 2, 2]), start={"ball.velocity": (9.0, 0.5, -9.0)})
    assert env.reset(seed=0)[0][0].tolist() == [0, 2, 0.5, -1, 0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"observe": []}, "There is nothing to observe; give names of quantities"),
        ({"observe": [3]}, "3 cannot be observed; give the name of a quantity or a function of the simulation."),
        ({"observe": "iterations"}, "'iterations' cannot be observed: it is one number for all worlds."),
        ({"observe": lambda sim: np.zeros(3)}, "observes an array of shape (3,); it must be (2, n), one row a world."),
        ({"act": rb.gym.Effort("rails")}, "drives no free coordinate of a joint. Did you mean 'rail'?"),
        ({"act": rb.gym.Target("rail")}, "There is no servo 'rail'"),
        ({"act": rb.gym.Effort("rail", low=1.0)}, "has no room between its bounds; low must be below high."),
        ({"bounds": ([1, 2], 3)}, "The bounds of observations must be a least and a largest for each of rail.velocity"),
        ({"start": {"rail": 0.0}}, "The start has no 'rail'; it takes the angle, position or velocity"),
        ({"start": {"rail.position": "far"}}, "The start of 'rail.position' is 'far'; it must be a number"),
        ({"start": {"ball.position": (0, 1)}}, ""),
        ({"start": {"ball.position": [0.0, 1.0]}}, "The start of 'ball.position' has 2 numbers; it must have 3."),
        ({"steps": 0}, "The steps of an environment"),
        ({"max_episode_steps": 1.5}, "The max_episode_steps of an environment"),
        ({"autoreset": "never"}, "The autoreset of a VectorEnv"),
        ({"render_mode": "human"}, "The render_mode is 'human'; it must be 'rgb_array' or None."),
        ({"sleep": True}, "'sleep'"),
        ({"rewards": zero}, "Did you mean 'reward'?"),
    ],
)
def test_what_makes_no_environment_is_refused(options: Any, message: str) -> None:
    if not message:
        make(**options)
        return
    with pytest.raises((rb.InputError, rb.UnknownName)) as refused:
        make(**options)
    assert message in str(refused.value)


def test_wrong_calls_are_refused() -> None:
    env = make(reward=lambda step: np.zeros(3))
    with pytest.raises(rb.InputError, match=r"A VectorEnv is reset before its first step"):
        env.step(np.zeros((2, 3)))
    with pytest.raises(
        rb.InputError, match=r"The seed is \[-1, 0\]; it must be a whole number from zero, or 2 of them or None"
    ):
        env.reset(seed=[-1, 0])
    env.reset(seed=0)
    with pytest.raises(rb.InputError, match=r"The actions have shape \(2, 1\); they must be \(2, 3\), one row a world"):
        env.step(np.zeros((2, 1)))
    with pytest.raises(rb.InputError, match=r"The action of world 1 is \[0.0, nan, 0.0\]; it must be finite"):
        env.step([[0, 0, 0], [0, np.nan, 0]])
    with pytest.raises(rb.InputError, match=r"The reward of the environment has shape \(3,\); it must be \(2,\)"):
        env.step(np.zeros((2, 3)))
    with pytest.raises(rb.InputError, match="VectorEnv needs observe and act and reward"):
        rb.gym.VectorEnv(slider)
    single = rb.gym.Env(rb.gym.ready.cart_pole())
    with pytest.raises(rb.InputError, match="An Env is reset before its first step"):
        single.step([0.0])
    loops = rb.scenes.four_bar()
    joint = next(iter(loops.joints))
    with pytest.raises(rb.InputError, match="A start by names of coordinates needs joints without loops"):
        rb.gym.Env(loops, observe="energy", act=(), reward=zero, start={f"{joint}.angle": 0.1})
