"""The live simulator: a page in the browser that shows a running simulation and steers it."""
