"""Pages of pictures and tables that open offline: one HTML file with everything inside."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Iterable
from pathlib import Path

from matplotlib.figure import Figure

from tautline.content_policy import content_policy
from tautline.figures.style import RESOLUTION, styled

STYLE = """
:root { color-scheme: light dark; --text: #1d2733; --page: #ffffff; --line: #d5dce4; --faint: #5b6875; --link: #0060a0;
  --good: #006b4f; --unsure: #8a5a00; --bad: #a33b00; --code: #f4f6f8; --note: #fff4e0; }
@media (prefers-color-scheme: dark) {
  :root { --text: #d8dee5; --page: #1a1a1a; --line: #3a434d; --faint: #9aa6b2; --link: #6cb4ee;
    --good: #4cc9a0; --unsure: #f0c060; --bad: #f09060; --code: #252a30; --note: #3a2f1a; }
  /* white becomes the page's own color, and hues stay */
  figure img, .moving { filter: invert(0.918) hue-rotate(180deg) brightness(1.25); }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page); max-width: 1120px;
  margin: 2rem auto; overflow-wrap: break-word; padding: 0 1rem; }
h1 { font-size: 1.7rem; line-height: 1.25; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
table { border-collapse: collapse; font-size: 0.86rem; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.35rem 0.6rem; border-bottom: 1px solid var(--line); }
.table { overflow-x: auto; }
.yes { color: var(--good); } .unsure { color: var(--unsure); } .no { color: var(--bad); font-weight: 600; }
.small { color: var(--faint); font-size: 0.8rem; }
.note { background: var(--note); border-left: 4px solid #E69F00; padding: 0.6rem 1rem; }
.panels { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(430px, 100%), 1fr)); gap: 1rem;
  align-items: start; }
a, summary { color: var(--link); } summary { cursor: pointer; margin: 1rem 0; }
figure { margin: 0; } img { max-width: 100%; } figcaption { color: var(--faint); font-size: 0.85rem; }
pre { background: var(--code); padding: 1rem; overflow: auto; font-size: 0.8rem; }
"""


def image(content: bytes, kind: str) -> str:
    """A picture as an address that holds it."""
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def figure(source: Path | Figure, caption: str) -> str:
    """A picture with its caption, which is plain text; a PNG file, or a figure that is drawn here."""
    text = html.escape(caption)
    address = image(source.read_bytes() if isinstance(source, Path) else _drawn(source), "png")
    return f'<figure><img src="{address}" alt="{text}"><figcaption>{text}</figcaption></figure>'


@styled
def _drawn(figure: Figure) -> bytes:
    """A figure as PNG."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=RESOLUTION)
    return file.getvalue()


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """HTML table of plain text; an empty head is left out."""
    return table_of_html(map(html.escape, head), (map(html.escape, row) for row in rows))


def table_of_html(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Table whose cells are HTML; where it is wider than the screen, it scrolls by itself, by keys as well."""
    first = "".join(f"<th>{cell}</th>" if cell else "<td></td>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="table" tabindex="0"><table>{f"<tr>{first}</tr>" if first else ""}{body}</table></div>'


def page(title: str, body: str, style: str = "", scripts: Iterable[str] = ()) -> str:
    """The whole file; `scripts` are hashes of those that may run in it."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">{content_policy(scripts)}\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}{style}</style></head>\n"
        f"<body><main>\n{body}\n</main></body></html>\n"
    )
