"""The front: the page of viser under a title of its own, with what is ours in it, and what else is asked for.

The page asks every other second what it is called. That is its title; and where no answer comes, it says that the
simulator has ended, since viser 1.1.1 shows three dots only. Style and script of what is ours lie in ``assets``: how
messages are read whole, lists searched, windows as narrow as a phone used, and the gallery and other sheets shown that
lie over the scene. Parts of the page serve further places; what has an effect is done for the page itself only, which
says so in a header that no other page can send.
"""

from __future__ import annotations

import html
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from rattleback.core.errors import RattlebackError
from rattleback.viewer.gate import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    # Answers what stands behind a place, and what stands behind the question mark.
    Serve = Callable[[str, str], Answer | None]

ROOM, PAGES = "/rattleback/", ("/", "/index.html")
NAME = f"{ROOM}name"
ASSETS = Path(__file__).parent / "assets"
# A request says by this header that it comes from the page; others would have to be allowed to send it, and are not.
OWN = "X-Rattleback"
# Where a browser says it was led to a link from; without that word it is no browser.
TRUSTED = ("same-origin", "none", None)
TEXT, PAGE = "text/plain; charset=utf-8", "text/html; charset=utf-8"
DATA, PICTURE = "application/json", "image/jpeg"


def reply(content: str | bytes, kind: str = TEXT, status: HTTPStatus = HTTPStatus.OK) -> Answer:
    """An answer that browsers take for what it says it is."""
    return Answer(status, content, (("Content-Type", kind), ("X-Content-Type-Options", "nosniff")))


class Front:
    """What a page is called, and what it answers itself.

    Attributes:
        title: What it is called.
        open_link: Opens what the query of an address asks for; gives False where it asks for nothing.
        greets: Whether it shows the gallery to those that come.

    Args:
        title: What it is called.
    """

    def __init__(self, title: str) -> None:
        self.title, self.greets = title, False
        self.open_link: Callable[[str], bool] = lambda query: False
        self._places: dict[str, tuple[Serve, bool]] = {}

    def serve(self, place: str, answer: Serve, acts: bool = False) -> None:
        """Answer requests for a place.

        Args:
            place: Its name, or the beginning of its name up to a slash.
            answer: Gives the answer, from the rest of the name and the query; None where there is nothing.
            acts: Whether that has an effect.
        """
        self._places[place] = answer, acts

    def answer(self, path: str, headers: Mapping[str, str] | None = None) -> Answer | None:
        """The answer to a request; None for what viser answers.

        Args:
            path: Path and query.
            headers: Its headers.
        """
        wanted, said = urlsplit(path), headers or {}
        if wanted.path == NAME:
            return reply(self.title)
        if wanted.path in PAGES:
            return self._asked(wanted.query, said.get("Sec-Fetch-Site")) or reply(self._page(), PAGE)
        if not wanted.path.startswith(ROOM):
            return None
        stem, _, rest = wanted.path.removeprefix(ROOM).partition("/")
        serve, acts = self._places.get(stem, (lambda rest, query: None, False))
        if acts and said.get(OWN) is None:
            return reply("This is for the page of the simulator only.", status=HTTPStatus.FORBIDDEN)
        try:
            found = serve(unquote(rest), wanted.query)
        except RattlebackError as error:
            return reply(str(error), status=HTTPStatus.BAD_REQUEST)
        return found or reply("There is nothing here.", status=HTTPStatus.NOT_FOUND)

    def _asked(self, query: str, site: str | None) -> Answer | None:
        """What comes of a link; None where there is none."""
        if not query:
            return None
        if site not in TRUSTED:
            here = f'<a href="/?{html.escape(query)}">Open the scene of the link</a>'
            return _said(f'Another page leads here. {here}, or <a href="/">go on</a> with what is there.')
        try:
            opened = self.open_link(query)
        except RattlebackError as error:
            text = f'<p>{html.escape(str(error))}</p><a href="/">Go on with what is there</a>'
            return _said(text, HTTPStatus.BAD_REQUEST)
        return Answer(HTTPStatus.SEE_OTHER, "", (("Location", "/"),)) if opened else None

    def _page(self) -> str:
        """The page."""
        title = f"<title>{html.escape(self.title)}</title>"
        greeting = '<meta name="rattleback-greets">' if self.greets else ""
        return _dressed().replace("<title></title>", title + greeting, 1)


def _said(text: str, status: HTTPStatus = HTTPStatus.OK) -> Answer:
    """A small page that says something, in HTML."""
    return reply(f"<!doctype html><meta charset=utf-8><title>rattleback</title>{text}", PAGE, status)


@cache
def _dressed() -> str:
    """The page of viser with what is ours, and without a title."""
    import viser

    page = (Path(viser.__file__).parent / "client" / "build" / "index.html").read_text(encoding="utf-8")
    style, script = ((ASSETS / f"page.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    ours = f"<title></title><style>{style}</style><script>{script}</script>"
    return page.replace("<title>Viser</title>", ours, 1)
