"""Pages of pictures and tables that open offline: one HTML file with everything inside."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable
from pathlib import Path

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1d2733; max-width: 1120px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.7rem; line-height: 1.25; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #d5dce4; }
table { border-collapse: collapse; font-size: 0.86rem; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.35rem 0.6rem; border-bottom: 1px solid #e3e8ee; }
.yes { color: #006b4f; } .no { color: #a33b00; font-weight: 600; }
.small { color: #5b6875; font-size: 0.8rem; }
.panels { display: grid; grid-template-columns: repeat(auto-fit, minmax(430px, 1fr)); gap: 1rem; align-items: start; }
summary { cursor: pointer; margin: 1rem 0; color: #0060a0; }
figure { margin: 0; } img { max-width: 100%; } figcaption { color: #5b6875; font-size: 0.85rem; }
pre { background: #f4f6f8; padding: 1rem; overflow: auto; font-size: 0.8rem; }
"""


def image(path: Path) -> str:
    """A picture as an address that holds it."""
    kind = {".gif": "image/gif", ".png": "image/png", ".svg": "image/svg+xml"}[path.suffix]
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"


def figure(path: Path, caption: str) -> str:
    """A picture with its caption, which is plain text."""
    text = html.escape(caption)
    return f'<figure><img src="{image(path)}" alt="{text}"><figcaption>{text}</figcaption></figure>'


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """HTML table of plain text; an empty head is left out."""
    first = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table>{f'<tr>{first}</tr>' if first else ''}{body}</table>"


def page(title: str, body: str, style: str = "") -> str:
    """The whole file."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}{style}</style></head><body>\n{body}\n</body></html>\n"
    )
