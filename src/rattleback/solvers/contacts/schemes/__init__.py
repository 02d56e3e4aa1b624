"""Schemes: which contact problems a step solves, when, and with which targets."""
