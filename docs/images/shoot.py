"""Pictures of the pages and figures that the docs show: `python -m docs.images.shoot` from the root, a minute.

Looks at pages by a browser without a window (`make browser` installs one) and writes PNG files beside itself.
"""

from __future__ import annotations

import io
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image
from tests.support.browser import browsing, serving
from tests.support.commands import COMMAND

import tautline as tl

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HERE = Path(__file__).parent
COLORS = 255  # a palette keeps pictures small
WIDE = (1280, 760)
CARD = "<meta charset=utf-8><body style='margin: 16px; width: max-content; font: 14px sans-serif'>"
STUDY = """title = "Stiffness of a rope and mass of its load"
scenario = "crane-hoist"
outputs = ["max tension", "max power"]
set = {run.duration = "2 s", run.elements = 4}
design = {kind = "latin-hypercube", members = 64, seed = 1}
[vary]
string.stiffness = {from = "4 MN", to = "12 MN"}
body.mass = {from = "800 kg", to = "1.2 t"}
"""


class Camera:
    """Takes pictures of pages, in a folder where runs are made."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self._browser, self.folder = browser, folder

    def keep(self, name: str, raw: bytes) -> None:
        image = Image.open(io.BytesIO(raw)).convert("RGB")
        image.quantize(COLORS, dither=Image.Dither.NONE).save(HERE / f"{name}.png", optimize=True)
        print(f"{name}.png: {(HERE / f'{name}.png').stat().st_size // 1000} kB")

    def page(
        self,
        name: str,
        address: str,
        act: Callable[[Page], object] | None = None,
        size: tuple[int, int] = WIDE,
        theme: str = "light",
        part: str | None = None,
    ) -> None:
        """An address in a window of a size, or a part of it, after something was done there."""
        wide = {"width": size[0], "height": size[1]}
        context = self._browser.new_context(viewport=wide, color_scheme=theme, bypass_csp=True)  # type: ignore[arg-type]
        page = context.new_page()
        page.goto(address)
        page.evaluate("window.tautline?.ready.then(() => true)")
        if act is not None:
            act(page)
        page.wait_for_timeout(1500)
        self.keep(name, page.locator(part).first.screenshot() if part else page.screenshot())
        context.close()

    def saved(self, name: str, text: str) -> str:
        """Address of a page that is saved in the folder."""
        path = self.folder / f"{name}.html"
        path.write_text(text, encoding="utf-8")
        return path.as_uri()

    def tell(self, *arguments: str) -> None:
        """Run the command `tautline` in the folder."""
        subprocess.run([COMMAND, *arguments, "--quiet"], cwd=self.folder, check=True)

    def run(self, name: str, scenario: str, *settings: str) -> None:
        changes = [word for setting in settings for word in ("--set", setting)]
        self.tell("run", scenario, "-o", f"{name}.nc", *changes)

    def view(self, *names: str) -> str:
        runs = [tl.open_run(self.folder / f"{name}.nc") for name in names]
        return tl.view(*runs).save(self.folder / f"{'-'.join(names)}.html").as_uri()


def drive(page: Page) -> None:
    """Wind in with forces shown, as somebody does who holds the button."""
    page.add_style_tag(content="#readout { visibility: hidden }")  # how busy this machine is
    page.keyboard.press("z")
    page.keyboard.press("Space")
    page.wait_for_function("tautline.time() > 4")


def shoot(camera: Camera) -> None:
    """All pictures."""
    camera.run("lift", "hook-and-load")
    camera.page("viewer", camera.view("lift"), lambda page: page.evaluate("tautline.seek(8.4)"), theme="dark")
    camera.run("crate", "crane-hoist")
    camera.run("light", "crane-hoist", "body.mass=0.95 t")
    camera.page("compare", camera.view("crate", "light"), lambda page: page.evaluate("tautline.seek(4.2)"))
    camera.run("ship", "ship-crane")
    camera.page("ship", camera.view("ship"), lambda page: page.evaluate("tautline.seek(38)"), part="#scene")
    with serving("live", "crane-hoist", cwd=camera.folder) as server:
        camera.page("live", server.address, drive, theme="dark")

    crate = camera.folder / "crate.nc"
    camera.run("retrieval", "retrieval")
    snapshots = tl.figures.snapshots(camera.folder / "retrieval.nc", every=1.0)
    for name, figure in (("retrieval-snapshots", snapshots), ("drive", tl.figures.drive(crate))):
        picture = io.BytesIO()
        figure.savefig(picture, dpi=110)
        camera.keep(name, picture.getvalue())
    card = tl.load("hook-and-load")._repr_html_()
    camera.page("card", camera.saved("card", CARD + card), size=(900, 900), part="body > *:last-child")

    options = ("--breaking-load", "60 kN", "--safety-factor", "5", "--project", "Quay 3", "--rope", "six_strand")
    camera.tell("report", "crate.nc", "-o", "report.html", *options)
    camera.page("report", (camera.folder / "report.html").as_uri(), size=(1000, 1150))
    (camera.folder / "rope.toml").write_text(STUDY, encoding="utf-8")
    camera.tell("study", "rope.toml", "-o", "rope.zarr")
    camera.tell("study", "report", "rope.zarr", "-o", "rope")
    (page,) = (camera.folder / "rope").glob("*.html")
    camera.page("study", page.as_uri(), size=(1000, 1150))


if __name__ == "__main__":
    with browsing() as found, tempfile.TemporaryDirectory() as made:
        shoot(Camera(found, Path(made)))
