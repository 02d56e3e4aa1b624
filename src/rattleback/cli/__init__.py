"""The command line, one file per command.

| command | what it does |
|---|---|
| ``list`` | the scenes by name, with their parameters |
| ``run`` | simulates a scene, a scene file or a saved state |
| ``demo`` | the first scene, with a picture and a recording |
| ``schema`` | the JSON Schema of scene files |
| ``info`` | versions, devices and kernels of this machine |
"""

from types import ModuleType

from rattleback.cli import demo, info, list_scenes, run, schema

# A command is a module with add_arguments(parser) and execute(arguments); the first line of its docstring is its help.
MENU: dict[str, ModuleType] = {"list": list_scenes, "run": run, "demo": demo, "schema": schema, "info": info}
