"""What solvers see: rows with Jacobians and responses, and the matrix between them. No joint types here."""
