"""Admission of clients: requests for the right host, from the page itself, by clients with a key.

The address that is printed holds a word. A request that brings it gets a cookie in exchange; from then on the cookie
opens the door to that browser. The word is good for every browser for as long as the page is served. A token is good
for one browser, once: that is for addresses that are written where others may read them, such as the output of a
notebook. Requests without cookie are asked for a token. A web page from elsewhere that the user
happens to visit has another origin, and a name that was made to point at this machine is another host: both are
refused.
"""

from __future__ import annotations

import hmac
import html
import secrets
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping

LOCAL = ("127.0.0.1", "localhost", "[::1]")
# Tokens that were given out and not brought back; more than these, and the oldest is void.
MOST_TOKENS = 64
# Cookies of earlier pages that a browser may keep; the oldest of more than these are taken from it.
MOST_COOKIES, COOKIE = 8, "rattleback_"
TOKEN = "token"


@dataclass(frozen=True)
class Answer:
    """What a request gets instead of what it asked for.

    Attributes:
        status: The status of the answer.
        text: Its body, a small page or a file.
        headers: Further headers.
    """

    status: HTTPStatus
    text: str | bytes
    headers: tuple[tuple[str, str], ...] = ()


class Gate:
    """Decides about requests.

    Args:
        hosts: Names and addresses under which the server may be asked for, without port; ``localhost`` and its
            addresses are always among them.
        word: What admits every browser; empty for nothing.
    """

    def __init__(self, hosts: tuple[str, ...] = (), word: str = "") -> None:
        self._word = word
        self.hosts = frozenset(name.lower() for name in (*LOCAL, *hosts))
        # Cookies of one host go to all its ports, so every server has one of its own.
        self._cookie = f"{COOKIE}{secrets.token_hex(4)}"
        self._tokens: list[str] = []
        self._keys: list[str] = []

    def token(self) -> str:
        """A new token, good for one browser."""
        token = secrets.token_urlsafe(24)
        self._tokens = [*self._tokens[1 - MOST_TOKENS :], token]
        return token

    def judge(self, path: str, headers: Mapping[str, str], here: str = "") -> Answer | None:
        """What to answer to a request; None to let it in.

        Args:
            path: Path and query.
            headers: Its headers.
            here: Address of this machine at which it came in.
        """
        host = headers.get("Host", "")
        if _name(host) not in (*self.hosts, here, f"[{here}]"):
            return _refused(f"This server does not answer for the host {host!r}.")
        origin = headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
            return _refused("This server answers its own page only.")
        cookies = headers.get("Cookie", "")
        if self._has_key(cookies):
            return self._welcome(path)
        given = parse_qs(urlsplit(path).query).get(TOKEN, [""])[0]
        if not given:
            return _refused("Open the whole address that was printed, or give its token:", asks=True)
        if not self._take(given):
            return _refused("This token is wrong or used up; give another, or ask for a new address:", asks=True)
        key = secrets.token_urlsafe(32)
        self._keys.append(key)
        given = f"{self._cookie}={key}; HttpOnly; SameSite=Strict; Path=/"
        return _moved(path, tuple(("Set-Cookie", cookie) for cookie in (given, *_taken(cookies))))

    def _welcome(self, path: str) -> Answer | None:
        """Admit clients with the key; a token is removed from the address."""
        return _moved(path) if TOKEN in dict(parse_qsl(urlsplit(path).query, keep_blank_values=True)) else None

    def _take(self, given: str) -> bool:
        """Whether a word or a token is good; a token is used up."""
        if self._word and hmac.compare_digest(self._word.encode(), given.encode()):
            return True
        for token in self._tokens:
            if hmac.compare_digest(token.encode(), given.encode()):
                self._tokens.remove(token)
                return True
        return False

    def _has_key(self, cookies: str) -> bool:
        pairs = (part.strip().partition("=") for part in cookies.split(";"))
        brought = [value.encode() for name, _, value in pairs if name == self._cookie]
        return any(hmac.compare_digest(key.encode(), value) for key in self._keys for value in brought)


def _taken(cookies: str) -> list[str]:
    """What takes the oldest cookies of earlier pages from a browser, which sends those it got first in front."""
    names = [part.strip().partition("=")[0] for part in cookies.split(";")]
    own = [name for name in names if name.startswith(COOKIE) and name.isascii() and name.removeprefix(COOKIE).isalnum()]
    return [f"{name}=; Max-Age=0; Path=/" for name in own[:-MOST_COOKIES]]


def _name(host: str) -> str:
    """The host of a Host header, without its port."""
    name, colon, port = host.lower().rpartition(":")
    return name if colon and port.isdigit() else host.lower()


def _refused(text: str, asks: bool = False) -> Answer:
    """A page that says why, and asks for a token if one would help."""
    form = '<form><input name="token" autocomplete="off" autofocus> <button>Open</button></form>' if asks else ""
    page = f"<!doctype html><meta charset=utf-8><title>rattleback</title><p>{html.escape(text)}</p>{form}"
    return Answer(HTTPStatus.FORBIDDEN, page, (("Content-Type", "text/html; charset=utf-8"),))


def _moved(path: str, headers: tuple[tuple[str, str], ...] = ()) -> Answer:
    """To the same page, with all that was asked for but the token."""
    asked = [pair for pair in parse_qsl(urlsplit(path).query, keep_blank_values=True) if pair[0] != TOKEN]
    return Answer(HTTPStatus.SEE_OTHER, "", (("Location", f"/?{urlencode(asked)}" if asked else "/"), *headers))
