"""Recording: any quantity of a run over time, as arrays, files, plots and the closing table.

Plots and pictures load Matplotlib on first use.
"""

from rattleback.recording.picture import overview
from rattleback.recording.recorder import Recorder
from rattleback.recording.tables import render, run_summary

__all__ = ["Recorder", "overview", "render", "run_summary"]
