"""From a scene to the description that all writers share: links, joints, trees, couplings, drives, frames, filters."""
