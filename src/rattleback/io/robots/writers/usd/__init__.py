"""USD: rigid bodies, colliders, joints, drives and filters of UsdPhysics."""
