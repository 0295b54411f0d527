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

# Of the sides of a figure, so that its words can be read where two stand side by side on paper.
SMALLER = 0.8
STYLE = """
:root { color-scheme: light dark; --text: #1d2733; --page: #ffffff; --line: #d5dce4; --faint: #5b6875; --link: #0060a0;
  --good: #006b4f; --unsure: #8a5a00; --bad: #a33b00; --code: #f4f6f8; --note: #fff4e0; }
@media screen and (prefers-color-scheme: dark) {
  :root { --text: #d8dee5; --page: #1a1a1a; --line: #3a434d; --faint: #9aa6b2; --link: #6cb4ee;
    --good: #4cc9a0; --unsure: #f0c060; --bad: #f09060; --code: #252a30; --note: #3a2f1a; }
  /* white becomes the page's own color, and hues stay */
  figure img, .moving { filter: invert(0.918) hue-rotate(180deg) brightness(1.25); }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page); max-width: 1120px;
  margin: 1.5rem auto; overflow-wrap: break-word; padding: 0 1rem; }
h1 { font-size: 1.7rem; line-height: 1.25; } h2 { margin-top: 2rem; border-bottom: 1px solid var(--line); }
table { border-collapse: collapse; font-size: 0.86rem; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.35rem 0.6rem; border-bottom: 1px solid var(--line); }
.table { overflow-x: auto; }
.yes { color: var(--good); } .unsure { color: var(--unsure); } .no { color: var(--bad); font-weight: 600; }
.small { color: var(--faint); font-size: 0.8rem; }
.note { background: var(--note); border-left: 4px solid #E69F00; padding: 0.6rem 1rem; }
.panels { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(430px, 100%), 1fr)); gap: 1rem;
  align-items: start; margin-top: 1rem; }
a, summary { color: var(--link); } summary { cursor: pointer; margin: 1rem 0; }
figure { margin: 0; } img { max-width: 100%; } figcaption { color: var(--faint); font-size: 0.85rem; }
pre { background: var(--code); padding: 1rem; overflow: auto; font-size: 0.8rem; }
h3 { font-size: 1rem; margin: 1rem 0 0.3rem; }
header { border-bottom: 3px solid var(--text); margin-bottom: 1rem; } header h1 { margin: 0; }
.kind { color: var(--faint); margin: 0; }
.facts { display: flex; flex-wrap: wrap; gap: 0 2rem; margin: 0.4rem 0; font-size: 0.86rem; }
.facts div { display: flex; gap: 0.5rem; } .facts dt { color: var(--faint); } .facts dd { margin: 0; }
.verdict { font-size: 1.1rem; }
.drawn { max-width: 720px; } .drawn svg { width: 100%; height: auto; }
.inputs { columns: 2 340px; column-gap: 2rem; } .inputs section { break-inside: avoid; }
.inputs h3 { margin-top: 0; } .inputs td:first-child { width: 42%; color: var(--faint); }
.inputs section { padding-bottom: 0.8rem; }
@media print {
  body { font-size: 10pt; margin: 0; max-width: none; padding: 0; }
  h1 { font-size: 17pt; } h2 { font-size: 13pt; margin-top: 1.1rem; } h1, h2, h3 { break-after: avoid; }
  figure, tr, section, header, .note, .verdict { break-inside: avoid; }
  .panels { display: block; columns: 2; column-gap: 7mm; } .table { overflow: visible; }
  .panels figure { margin: 0 0 4mm; } .drawn { margin: 0 auto; max-width: 150mm; }
  .drawn svg { max-height: 66mm; } h3 + p, tr:first-child { break-after: avoid; }
  figure img { display: block; width: 100%; }
  figcaption { break-before: avoid; font-size: 8.5pt; line-height: 1.35; }
  .inputs { columns: 2; } table { font-size: 8.5pt; } th, td { padding: 0.15rem 0.4rem; }
  a { color: inherit; text-decoration: none; } .screen, iframe { display: none; }
}
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
    width, height = SMALLER * figure.get_size_inches()
    figure.set_size_inches(float(width), float(height))
    for wide in list(figure.legends):  # two columns fit
        drawn = [(handle, x.get_text()) for handle, x in zip(wide.legend_handles, wide.texts, strict=True) if handle]
        figure.legend(*zip(*drawn, strict=True), loc="outside upper center", ncols=2)
        wide.remove()
    figure.savefig(file, format="png", dpi=RESOLUTION)
    return file.getvalue()


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """HTML table of plain text; an empty head is left out."""
    return table_of_html(map(html.escape, head), (map(html.escape, row) for row in rows))


def table_of_html(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Table whose cells are HTML; where it is wider than the screen, it scrolls by itself, by keys as well."""
    first = "".join(f"<th>{cell}</th>" if cell else "<td></td>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    first = f"<thead><tr>{first}</tr></thead>" if first else ""
    return f'<div class="table" tabindex="0"><table>{first}{body}</table></div>'


def feet(words: str) -> str:
    """Style of printed pages: their size and margins, words at the foot of each, and its number."""
    safe = "".join(x if x.isprintable() and x not in '"\\<' else " " for x in words)
    box = "font: 8pt system-ui, sans-serif; color: #5b6875"
    return (
        f'@page {{ size: A4; margin: 15mm 15mm 18mm; @bottom-left {{ content: "{safe}"; {box} }} '
        f"@bottom-right {{ white-space: nowrap; "
        f'content: "page " counter(page) " of " counter(pages); {box} }} }}'
    )


def page(title: str, body: str, style: str = "", scripts: Iterable[str] = ()) -> str:
    """The whole file; `scripts` are hashes of those that may run in it."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">{content_policy(scripts)}\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}{style}</style></head>\n"
        f"<body><main>\n{body}\n</main></body></html>\n"
    )
