"""Teaching views of inverse kinematics: an arm that follows a target, by any method, and what the methods do."""
