"""Forms of numbers: what the user types is taken when Enter is pressed, and until then stays as it is typed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rattleback.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Future

    from rattleback.viewer.frame import Frame
    from rattleback.viewer.window import Window

    Values = Mapping[str, float | None]

PRESS_ENTER = "Press Enter to apply."


@dataclass(frozen=True)
class Number:
    """A number of a form.

    Attributes:
        name: Name it is asked for by.
        label: What it is called on the page.
        hint: What it means.
        read: Its value, from a frame; None for none.
        none: Word that stands for none; empty where there must be a number.
        whole: Whether it must be a whole number.
    """

    name: str
    label: str
    hint: str
    read: Callable[[Frame], float | None]
    none: str = ""
    whole: bool = False

    def write(self, value: float | None) -> str:
        """A value as text."""
        return self.none if value is None else f"{value:.6g}".replace("e-0", "e-").replace("e+0", "e+")

    def parse(self, text: str) -> float | None:
        """The value of a text.

        Raises:
            InputError: It is none.
        """
        word = text.strip()
        if self.none and word in ("", self.none):
            return None
        try:
            value = int(word) if self.whole else float(word)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            wanted = "a whole number" if self.whole else "a number, such as 1e-6"
            other = f", or {self.none!r}" if self.none else ""
            raise InputError(f"{self.label} is {text!r}; it must be {wanted}{other}.")
        return value


class NumberForm:
    """Text fields with numbers, which hold what the simulation has but for what the user is about to change.

    Attributes:
        fields: The fields by the names of their numbers.
        frame: The form, to put other controls into.

    Args:
        window: The page; the form goes into the tab that is open.
        title: What it is called; None for no frame.
        numbers: The numbers.
        ask: Asks for those that the user has changed, by name.
    """

    def __init__(
        self, window: Window, title: str | None, numbers: Sequence[Number], ask: Callable[[Values], Future[Any]]
    ) -> None:
        self._session, self._ask = window.session, ask
        gui: Any = window.server.gui
        self.frame = gui.add_form(title)
        with self.frame:
            self.fields = {
                number.name: gui.add_text(number.label, "", hint=f"{number.hint} {PRESS_ENTER}") for number in numbers
            }
        self._numbers = {number.name: number for number in numbers}
        self._shown = dict.fromkeys(self._numbers, "")
        self.frame.on_submit(lambda _: self.submit())

    def show(self, frame: Frame) -> None:
        """Show the values that have changed."""
        for name, number in self._numbers.items():
            text = number.write(number.read(frame))
            if text != self._shown[name]:
                self.fields[name].value = self._shown[name] = text

    def submit(self) -> None:
        """Ask for what the user has typed; where it is refused, show again what holds."""
        typed = {name: field.value for name, field in self.fields.items() if field.value != self._shown[name]}
        try:
            values = {name: self._numbers[name].parse(text) for name, text in typed.items()}
        except InputError as error:
            self._session.tell(str(error), fault=True)
            self._restore()
            return
        if values:
            self._ask(values).add_done_callback(lambda _: self._restore())

    def _restore(self) -> None:
        self._shown = dict.fromkeys(self._numbers, "")
        self.show(self._session.frame)
