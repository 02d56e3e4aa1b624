"""Ready environments: functions that return a task, registered with Gymnasium.

| name | with Gymnasium | task |
|---|---|---|
| ``cart_pole`` | ``rattleback/CartPole-v0`` | a cart keeps a pole upright |
| ``pendulum`` | ``rattleback/Pendulum-v0`` | a weak motor swings a rod up |
| ``reacher`` | ``rattleback/Reacher-v0`` | an arm of two links brings its tip to a target |
| ``quadruped`` | ``rattleback/Quadruped-v0`` | a robot on four legs runs |
| ``ball_on_plate`` | ``rattleback/BallOnPlate-v0`` | a plate keeps a rolling ball in its middle |
"""

from rattleback.gym.ready.ball_on_plate import ball_on_plate
from rattleback.gym.ready.cart_pole import cart_pole
from rattleback.gym.ready.pendulum import pendulum
from rattleback.gym.ready.quadruped import quadruped
from rattleback.gym.ready.reacher import reacher

MENU = {
    "cart_pole": cart_pole,
    "pendulum": pendulum,
    "reacher": reacher,
    "quadruped": quadruped,
    "ball_on_plate": ball_on_plate,
}
