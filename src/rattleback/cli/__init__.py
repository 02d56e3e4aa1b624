"""The command line, one file per command.

| command | what it does |
|---|---|
| ``list`` | the scenes by name, with their parameters |
| ``run`` | simulates a scene, a scene file or a saved state |
| ``render`` | draws a film or a still picture of one |
| ``experiment`` | does a published table or figure again |
| ``demo`` | the first scene, with a picture and a recording |
| ``schema`` | the JSON Schema of scene files |
| ``info`` | versions, devices and kernels of this machine |
"""
