"""What a recorder refuses, in sentences that say what would work."""

import pytest

import rattleback as rb


@pytest.fixture
def sim() -> rb.Simulation:
    scene = rb.Scene(name="test")
    scene.add_body(rb.Sphere(0.1), name="ball", group="balls")
    return rb.Simulation(scene)


def refuse(*args, **options):
    raise ZeroDivisionError("no luck")


@pytest.mark.parametrize(
    ("wanted", "kind", "said"),
    [
        ("enrgy", rb.UnknownName, "There is no quantity 'enrgy'. Did you mean 'energy'? There are 'position', "),
        ("ball.positon", rb.UnknownName, "There is no quantity 'ball.positon'. Did you mean 'ball.position'?"),
        ("ball.energy", rb.UnknownName, "'arm.position' for a body or group 'arm'; 'hinge.angle' and others"),
        (
            "bell.position",
            rb.UnknownName,
            "is of 'bell', which is no body or group. Did you mean 'ball'? There are 'ball'",
        ),
        (["energy", "energy"], rb.InputError, "The quantity 'energy' is given twice to a Recorder."),
        ([], rb.InputError, "A Recorder got no quantities; give at least one name, such as 'energy'."),
        (3, rb.InputError, "The quantities of a Recorder are 3; give a list of names, such as ['energy']."),
        ([3], rb.InputError, "A quantity of a Recorder is 3; it must be a name, such as 'energy', or a pair"),
        ([("a", "b", "c")], rb.InputError, "A quantity of a Recorder is ('a', 'b', 'c'); it must be a name"),
        ([("height", 3)], rb.InputError, "The quantity 'height' is 3; it must be a function of the simulation."),
        ([(3, len)], rb.InputError, "The name of a quantity is 3; it must be a string that is not empty."),
        ({"energy": len}, rb.InputError, "A quantity of your own is called 'energy', which has a meaning already"),
        ({"time": len}, rb.InputError, "A quantity of your own is called 'time', which has a meaning already"),
        (
            {"own": refuse},
            rb.InputError,
            "'own' could not be read at t = 0 s; its function raised ZeroDivisionError: no",
        ),
        ({"own": lambda sim: "high"}, rb.InputError, "The quantity 'own' is 'high'; its function must return a number"),
        ({"own": lambda sim: None}, rb.InputError, "The quantity 'own' is None; its function must return a number"),
        ({"own": lambda sim: []}, rb.InputError, "The quantity 'own' is []; its function must return a number"),
        ({"own": lambda sim: [[1], [1, 2]]}, rb.InputError, "The quantity 'own' is [[1], [1, 2]]; its function must"),
        ({"own": lambda sim: 1j}, rb.InputError, "The quantity 'own' is 1j; its function must return a number"),
        (
            ["position", ("ball.position.x", lambda sim: 1.0)],
            rb.InputError,
            "The quantities 'position' and 'ball.position.x' both have a column 'ball.position.x'; rename yours.",
        ),
        (
            [("a.0", lambda sim: 1.0), ("a", lambda sim: [1.0])],
            rb.InputError,
            "The quantities 'a.0' and 'a' both have a column 'a.0'; rename yours.",
        ),
    ],
)
def test_a_quantity_that_cannot_be_recorded_is_refused(sim, wanted, kind, said):
    with pytest.raises(kind) as caught:
        rb.Recorder(sim, quantities=wanted)
    assert said in str(caught.value)
    sim.step()


@pytest.mark.parametrize(
    ("every", "said"),
    [(0, "The every of a Recorder is 0; it must be at least 1."), (1.5, "is 1.5; it must be a whole number.")],
)
def test_a_pace_that_is_no_count_is_refused(sim, every, said):
    with pytest.raises(rb.InputError) as caught:
        rb.Recorder(sim, every=every)
    assert said in str(caught.value)


def test_only_a_simulation_can_be_watched(sim):
    with pytest.raises(rb.InputError, match=r"What a Recorder watches is .*; it must be a Simulation"):
        rb.Recorder(sim.scene)


def test_what_was_not_recorded_is_answered_with_what_was(sim):
    recorder = rb.Recorder(sim, quantities=["energy", "ball.velocity"])
    with pytest.raises(rb.UnknownName) as caught:
        recorder["ball.velocty"]
    assert "'ball.velocty' was not recorded. Did you mean 'ball.velocity'?" in str(caught.value)
    assert "What was: 'energy', 'ball.velocity'." in str(caught.value)
    with pytest.raises(rb.UnknownName, match="'position' was not recorded"):
        recorder["position"]
    with pytest.raises(rb.UnknownName, match="3 was not recorded"):
        recorder[3]


def test_a_quantity_that_changes_its_shape_stops_the_run_with_its_name(sim):
    recorder = rb.Recorder(sim, quantities=["energy", ("own", lambda sim: [0.0] * (3 if sim.state.steps < 2 else 2))])
    with pytest.raises(rb.InputError) as caught:
        sim.step(5)
    assert str(caught.value) == (
        "The quantity 'own' has shape (2,) at t = 0.02 s; its first sample had (3,), and all must have the same."
    )
    assert len(recorder) == 2


def test_a_function_that_raises_later_leaves_a_whole_recording_and_its_cause(sim):
    recorder = rb.Recorder(sim, quantities=["energy", ("own", lambda sim: 1.0 / (2 - sim.state.steps))])
    with pytest.raises(rb.InputError, match=r"'own' could not be read at t = 0.02 s; .* ZeroDivisionError") as caught:
        sim.step(5)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert len(recorder) == len(recorder["energy"]) == len(recorder["own"]) == 2
