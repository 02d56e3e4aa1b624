"""The door: at which address the page is served, under which names, and with which token."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass

from rattleback.core import checks
from rattleback.core.errors import InputError

LOCAL_ADDRESS = "127.0.0.1"
# These stand for every address of the machine.
EVERYWHERE = ("0.0.0.0", "::")
# A token that others may guess at for as long as they like is at least so long.
LEAST_TOKEN = 16
MOST_PORT = 65535


@dataclass(frozen=True)
class Door:
    """Where a page is served and which clients are admitted.

    Args:
        listen: Address to listen at. Only this machine can reach the one it has by default; any other needs a token.
        port: Port to listen at; where it is taken, the next one that is free. 0 for any.
        token: A token of one's own; empty for a random one.
    """

    listen: str = LOCAL_ADDRESS
    port: int = 0
    token: str = ""

    def __post_init__(self) -> None:
        """Check the address and that a page others can reach is not open to all."""
        try:
            address = ipaddress.ip_address(self.listen)
        except ValueError:
            raise InputError(
                f"The page cannot be served at {self.listen!r}; give an address of this machine, such as 127.0.0.1, or "
                "0.0.0.0 for all of them."
            ) from None
        checks.count(self.port, "The port", least=0, most=MOST_PORT)
        if not address.is_loopback and not self.token:
            raise InputError(
                f"Others can reach a page at {self.listen}, and steer the simulation; choose a token they have to "
                f"know: at least {LEAST_TOKEN} letters, digits, - or _."
            )
        plain = self.token.replace("-", "a").replace("_", "a")
        if self.token and not (len(plain) >= LEAST_TOKEN and plain.isascii() and plain.isalnum()):
            raise InputError(f"The token must be at least {LEAST_TOKEN} letters, digits, - or _.")

    @property
    def name(self) -> str:
        """What to call the machine in an address."""
        if self.listen in EVERYWHERE:
            return socket.gethostname()
        return f"[{self.listen}]" if ":" in self.listen else self.listen

    @property
    def hosts(self) -> tuple[str, ...]:
        """Names under which it may be asked for, beside its addresses."""
        return (socket.gethostname(), socket.getfqdn()) if self.listen in EVERYWHERE else (self.name,)
