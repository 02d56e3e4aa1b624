"""Contact solvers: each takes one problem and returns impulses with the residual it reached."""
