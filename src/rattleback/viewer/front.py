"""The front: the page of viser under a title of its own, with messages that can be read whole and a word at its end.

The page asks every other second what it is called. That is its title; and where no answer comes, it says that the
simulator has ended, since viser 1.1.1 shows three dots only. Lists that are searched forget the old text, which viser
leaves in front of what is typed. A file that is dropped goes to the button that takes such files. In a window as narrow
as a phone, where viser lays the panel over the scene, the panel is as broad as the window, at most half as high, and
folded until its head is touched.
"""

from __future__ import annotations

import html
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

NAME, PAGES = "/rattleback/name", ("/", "/index.html")
ENDED = "The simulator has ended, or cannot be reached. Once it runs again, open the address that it prints."
# Head of the panel where it is laid over the scene.
SHEET = "[style*='height: 3.5em'][style*='cursor: pointer']"
STYLE = """
.mantine-Notification-root { max-height: none !important; }
.mantine-Notification-description { white-space: pre-wrap; overflow-wrap: anywhere; max-height: 40vh;
  overflow: auto !important; }
#rattleback-ended { position: fixed; inset: auto 0 0 0; z-index: 10000; padding: 0.8em 1em; text-align: center;
  background: #c92a2a; color: #fff; font: 1em sans-serif; }
@media (max-width: 36em) {
  .mantine-Paper-root:has(SHEET) { width: 100% !important; max-height: 50% !important; }
  .mantine-Paper-root:has(SHEET) div:has(> SHEET) { width: 100% !important; }
  SHEET::after { content: "\\25B4\\25BE"; margin-left: 0.6em; opacity: 0.5; }
}
#rattleback-ended[hidden] { display: none; }
"""
SCRIPT = """
addEventListener("DOMContentLoaded", () => {
  const word = document.body.appendChild(document.createElement("div"));
  Object.assign(word, {id: "rattleback-ended", hidden: true, textContent: WORD});
  let missed = 0;
  async function look() {
    let name = "";
    try {
      const answer = await fetch(NAME, {cache: "no-store"});
      name = answer.ok ? await answer.text() : "";
    } catch {}
    missed = name ? 0 : missed + 1;
    word.hidden = missed < 2;
    document.title = name || document.title;
  }
  setInterval(look, 2000);
  if (matchMedia("(max-width: 36em)").matches)
    new MutationObserver((_, watch) => {
      const head = document.querySelector("SHEET");
      if (head) { watch.disconnect(); head.click(); }
    }).observe(document.body, {childList: true, subtree: true});
  for (const kind of ["focusin", "click"])
    addEventListener(kind, (event) => {
      if (event.target.matches?.("input.mantine-Select-input")) event.target.select();
    });
  addEventListener("dragover", (event) => {
    if (event.dataTransfer.types.includes("Files")) event.preventDefault();
  });
  addEventListener("drop", (event) => {
    const file = event.dataTransfer.files[0];
    if (!file) return;
    event.preventDefault();
    const ends = (input) => input.accept.split(",").some((end) => file.name.toLowerCase().endsWith(end));
    const inputs = [...document.querySelectorAll("input[type=file]")];
    const input = inputs.find(ends) ?? inputs[0];
    if (!input) return;
    input.files = event.dataTransfer.files;
    input.dispatchEvent(new Event("change", {bubbles: true}));
  });
});
"""


class Front:
    """What a page is called, and what it answers itself.

    Attributes:
        title: What it is called.

    Args:
        title: What it is called.
    """

    def __init__(self, title: str) -> None:
        self.title = title

    def answer(self, path: str) -> tuple[str, str] | None:
        """Kind and text of the answer to a request; None for what viser answers.

        Args:
            path: Path and query.
        """
        wanted = urlsplit(path).path
        if wanted == NAME:
            return "text/plain; charset=utf-8", self.title
        if wanted not in PAGES:
            return None
        title = f"<title>{html.escape(self.title)}</title>"
        return "text/html; charset=utf-8", _dressed().replace("<title></title>", title, 1)


@cache
def _dressed() -> str:
    """The page of viser with what is ours, and without a title."""
    import viser

    page = (Path(viser.__file__).parent / "client" / "build" / "index.html").read_text(encoding="utf-8")
    script = SCRIPT.replace("WORD", f'"{ENDED}"').replace("NAME", f'"{NAME}"')
    ours = f"<title></title><style>{STYLE}</style><script>{script}</script>".replace("SHEET", SHEET)
    return page.replace("<title>Viser</title>", ours, 1)
