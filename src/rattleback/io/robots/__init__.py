"""Robots and mechanisms from files: readers fill one description, one builder makes a scene of it.

    scene = rb.Scene.from_file("arm.urdf")
    scene.import_report                     what was kept, approximated (how) and dropped (why)
    scene.robot                             named frames, named states, joint data, actuators, cameras

Rooms: ``source`` (XML, files, meshes) · ``formats`` (URDF, MJCF, SDF, USD) · ``builder`` (scene, tree).
"""
