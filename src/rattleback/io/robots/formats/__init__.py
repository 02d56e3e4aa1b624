"""Readers by format: each fills a description and the report.

| format | endings | told by |
|---|---|---|
| URDF | ``.urdf`` | the element ``robot`` |
| MJCF | ``.xml``, ``.mjcf`` | the element ``mujoco`` |
| SDF | ``.sdf``, ``.world`` | the element ``sdf`` |
| USD | ``.usd``, ``.usda``, ``.usdc``, ``.usdz`` | the first bytes |
"""

# Modules of this room by format; each has ``read(source)``.
MENU = {"URDF": "urdf", "MJCF": "mjcf", "SDF": "sdf", "USD": "usd"}
