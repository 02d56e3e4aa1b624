"""Environments pass Gymnasium's own checks; vector environments do what its own vectoriser does with single ones."""

import subprocess
import sys
import tomllib
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rattleback as rb
from rattleback.gym.registration import ENVIRONMENTS, register

gymnasium = pytest.importorskip("gymnasium", reason="needs Gymnasium: pip install 'rattleback[gym]'")
from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import AutoresetMode, SyncVectorEnv  # noqa: E402

pytestmark = pytest.mark.contacts
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module", autouse=True)
def registered() -> None:
    register()


def short(task: str, **options: Any) -> rb.gym.Env:
    """A ready environment whose episodes are cut off soon."""
    return rb.gym.Env(rb.gym.ready.MENU[task](), **{"max_episode_steps": 12, **options})


@pytest.mark.egl
@pytest.mark.parametrize("task", ENVIRONMENTS)
def test_gymnasiums_checker_passes_without_a_warning(task: str) -> None:
    env = gymnasium.make(ENVIRONMENTS[task][0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)
    env.close()


@pytest.mark.parametrize("task", ENVIRONMENTS)
def test_ready_environments_are_found_as_vectors(task: str) -> None:
    name, limit = ENVIRONMENTS[task]
    env = gymnasium.make_vec(name, num_envs=3)
    made = rb.gym.ready.MENU[task]()
    assert env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert (env.num_envs, made.max_episode_steps) == (3, limit)
    seen, _ = env.reset(seed=[4, None, 4])
    assert np.array_equal(seen[0], seen[2])
    for _ in range(2):
        assert seen in env.observation_space
        assert seen.dtype == env.observation_space.dtype
        seen, reward, done, cut, _ = env.step(env.action_space.sample())
        assert (reward.shape, reward.dtype, done.dtype, cut.dtype) == ((3,), np.float64, np.bool_, np.bool_)


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
@pytest.mark.parametrize("task", ["cart_pole", "ball_on_plate"])
def test_a_vector_environment_does_what_gymnasium_makes_of_single_ones(task: str, mode: str) -> None:
    """Bit for bit, through ends of episodes of different length, with both modes of autoreset."""
    modes = {"next_step": AutoresetMode.NEXT_STEP, "same_step": AutoresetMode.SAME_STEP}
    theirs = SyncVectorEnv([lambda: short(task) for _ in range(3)], autoreset_mode=modes[mode])
    ours = rb.gym.VectorEnv(rb.gym.ready.MENU[task](), worlds=3, autoreset=mode, max_episode_steps=12)
    theirs.action_space.seed(3)
    assert np.array_equal(ours.reset(seed=7)[0], theirs.reset(seed=7)[0])
    ends = 0
    for k in range(40):
        # The second world is pushed to one side, so that its episodes end early.
        action = theirs.action_space.sample()
        action[1] = 1.0
        if k == 20:
            assert np.array_equal(ours.reset(seed=[1, 2, 3])[0], theirs.reset(seed=[1, 2, 3])[0])
        *found, info = ours.step(action)
        *wanted, told = theirs.step(action)
        assert all(np.array_equal(a, b) for a, b in zip(found, wanted, strict=True)), k
        ends += int((found[2] | found[3]).sum())
        for world in np.flatnonzero(told.get("_final_obs", [])):
            assert np.array_equal(info["final_obs"][world], told["final_obs"][world])
        assert ("final_obs" in info) == ("final_obs" in told)
    assert ends > 3


def test_without_autoreset_worlds_are_reset_by_a_mask() -> None:
    env = rb.gym.VectorEnv(rb.gym.ready.cart_pole(), worlds=2, autoreset="disabled", max_episode_steps=3)
    env.reset(seed=0)
    for _ in range(3):
        seen, _, _, cut, _ = env.step(np.zeros((2, 1)))
    assert cut.all()
    with pytest.raises(rb.InputError, match="The episode of world 0 has ended; reset it"):
        env.step(np.zeros((2, 1)))
    again, _ = env.reset(options={"reset_mask": np.array([True, False])})
    assert np.array_equal(again[1], seen[1])
    assert not np.array_equal(again[0], seen[0])


def test_a_world_that_diverges_is_put_back_and_the_others_go_on() -> None:
    build = lambda: rb.gym.VectorEnv(  # noqa: E731
        rb.gym.ready.cart_pole(), worlds=3, act=rb.gym.Effort("rail", low=-1e300, high=1e300), done=None
    )
    wild, calm = build(), build()
    wild.reset(seed=0)
    calm.reset(seed=0)
    seen, _, done, _, info = wild.step([[0.1], [1e300], [0.2]])
    assert done.tolist() == info["diverged"].tolist() == [False, True, False]
    assert np.array_equal(seen[[0, 2]], calm.step([[0.1], [0.0], [0.2]])[0][[0, 2]])
    seen, _, done, _, info = wild.step(np.zeros((3, 1)))
    assert not done.any()
    assert info == {}
    assert np.abs(seen[1]).max() <= 0.05


@pytest.mark.egl
def test_pictures_are_arrays_of_one_size() -> None:
    env = rb.gym.VectorEnv(rb.gym.ready.reacher(), worlds=2, render_mode="rgb_array")
    env.reset(seed=0)
    (drawn,) = env.render()
    assert (drawn.shape, drawn.dtype) == ((360, 480, 3), np.uint8)
    assert drawn.std() > 5.0
    env.close()
    assert rb.gym.Env(rb.gym.ready.reacher()).render() is None


def test_gymnasium_finds_the_environments_by_the_entry_point() -> None:
    """What the project declares is importable, registers all, and loads no kernels."""
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    module, _, function = told["project"]["entry-points"]["gymnasium.envs"]["__root__"].partition(":")
    assert getattr(import_module(module), function) is register
    code = f"import sys, {module}; {module}.register(); assert 'warp' not in sys.modules, 'warp is loaded'"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_without_gymnasium_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("gymnasium", "rattleback.gym.env"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "rattleback.gym.env")
    monkeypatch.delitem(vars(rb.gym), "Env", raising=False)
    with pytest.raises(rb.RattlebackError, match=r"rb.gym.Env needs Gymnasium: pip install 'rattleback\[gym\]'."):
        _ = rb.gym.Env
    with pytest.raises(AttributeError, match="has no attribute 'Environment'"):
        _ = rb.gym.Environment
