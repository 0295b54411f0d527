"""`tautline view` as a process: what it serves, whom it refuses, how it ends."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import tautline as tl
from tautline.figures.page import page
from tautline.viewer import payload
from tautline.viewer.curves import curves_of
from tests.conftest import Report
from tests.support import forked
from tests.support.browser import Serving, serving
from tests.support.checking import check_below

N = 3
SAMPLES = 201


def make(path: Path, elements: int = N) -> None:
    p = tl.pendulum(
        string=tl.String(length=10.0, density=0.05, stiffness=100.0, law="linear"),
        reel=tl.Reel(drum_radius=0.3, guide_length=0.4, inertia_mass=0.8),
        body=tl.RigidBody.box(0.5, (0.2, 0.3, 0.4), (0.1, 0.0, 0.2)),
        elements=elements,
    )
    start = tl.Straight(4.0, (1.0, 0.0, 1.0), end_velocity=(0.0, 1.0, 0.0))
    tl.run_to_file(path, p, start, tl.Locked(), duration=2.0, sample=0.01, title=f"of {elements}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("view")
    make(made / "a.nc")
    make(made / "b.nc", N + 2)
    return made


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Serving]:
    """Two runs."""
    with serving("view", "a.nc", "b.nc", cwd=folder) as started:
        yield started


def boot_of(page: bytes) -> dict[str, object]:
    found = re.search(rb'<script id="boot" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    value: dict[str, object] = json.loads(found[1])
    return value


# -- what it serves ----------------------------------------------------------------------------------


def test_page_frames_and_plots_of_two_runs(server: Serving, folder: Path) -> None:
    status, page = server.get("/?token={token}")
    boot = boot_of(page)
    assert status == 200 and boot["mode"] == "replay" and boot["token"] == server.token
    assert isinstance(boot["runs"], list)
    assert [run["title"] for run in boot["runs"]] == ["a: of 3", "b: of 5"]
    assert [run["lines"][0]["elements"] for run in boot["runs"]] == [N, N + 2]
    for k, name in enumerate(("a.nc", "b.nc")):
        recording = payload.InMemory(tl.open_run(folder / name))
        status, frames = server.get(f"/frames?token={{token}}&run={k}&first=10&count=256&every=2")
        assert status == 200 and frames == payload.frames(recording, 10, 256, 2)
        status, plots = server.get(f"/plots?token={{token}}&run={k}&from=0.5&to=1.5&points=60")
        assert status == 200 and plots == payload.plots(recording, 0.5, 1.5, 60)


# -- whom it refuses ---------------------------------------------------------------------------------


def test_bound_to_this_machine_only(server: Serving) -> None:
    """127.0.0.2 and ::1 lead to this machine as well; a server for everyone would answer there."""
    socket.create_connection(("127.0.0.1", server.port), timeout=5).close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", server.port), timeout=5)
    with pytest.raises(OSError):
        socket.create_connection(("::1", server.port), timeout=5)


@pytest.mark.parametrize("path", ["/", "/?token=", "/?token=wrong", "/?token=%ff%fe", "/frames?run=0", "/x", "//["])
def test_without_the_token_nothing_is_said(path: str, server: Serving) -> None:
    status, body = server.get(path)
    assert status == 403
    assert re.search(r"token is missing or wrong; open the address|address cannot be read", body.decode())
    assert server.token.encode() not in body


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({"Origin": "http://evil.example"}, "other origins"),
        ({"Origin": "null"}, "other origins"),
        ({"Origin": "https://127.0.0.1:{port}"}, "other origins"),
        ({"Host": "evil.example"}, "its own address"),
        ({"Host": "evil.example:{port}"}, "its own address"),
        ({"Host": "127.0.0.1"}, "its own address"),
    ],
)
def test_foreign_origins_and_hosts_are_refused(headers: dict[str, str], words: str, server: Serving) -> None:
    """The token alone is not enough: another page in the same browser, or a name that was bent to this machine."""
    sent = {name: value.replace("{port}", str(server.port)) for name, value in headers.items()}
    status, body = server.get("/frames?token={token}&run=0&first=0&count=1&every=1", sent)
    assert status == 403 and words in body.decode()
    own = {"Origin": f"http://127.0.0.1:{server.port}"}
    assert server.get("/frames?token={token}&run=0&first=0&count=1&every=1", own)[0] == 200


def test_unknown_paths(server: Serving) -> None:
    for path in ("/x", "/live", "/frames/", "/../etc/passwd", "/index.html"):
        status, body = server.get(f"{path}?token={{token}}")
        assert (status, body) == (404, b"nothing here")


FRAMES = {"run": "0", "first": "0", "count": "5", "every": "1"}
PLOTS = {"run": "0", "from": "0", "to": "1", "points": "50"}


@pytest.mark.parametrize(
    ("path", "name", "value"),
    [
        ("frames", "run", "2"),
        ("frames", "run", ""),
        ("frames", "first", str(SAMPLES)),
        ("frames", "first", "1.5"),
        ("frames", "first", "%D9%A3"),
        ("frames", "count", "0"),
        ("frames", "count", "9" * 400),
        ("frames", "every", "x"),
        ("plots", "run", "two"),
        ("plots", "from", "nan"),
        ("plots", "to", "1e999"),
        ("plots", "to", "-1"),
        ("plots", "points", "9"),
    ],
)
def test_bad_numbers_are_told(path: str, name: str, value: str, server: Serving) -> None:
    query = (FRAMES if path == "frames" else PLOTS) | {name: value}
    status, body = server.get(f"/{path}?token={{token}}&" + "&".join(f"{k}={v}" for k, v in query.items()))
    blamed = "from" if (path, name, value) == ("plots", "to", "-1") else name
    assert status == 400 and body.decode().startswith(f"{blamed}: expected")
    assert len(body) < 300


NONSENSE = {
    "noise": bytes(range(256)) * 40 + b"\r\n\r\n",
    "post": b"POST /?token=TOKEN HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Length: 3\r\n\r\nabc",
    "long line": b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
    "many headers": b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 2000 + b"\r\n",
    "two hosts": b"GET /?token=TOKEN HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nHost: 127.0.0.1:PORT\r\n\r\n",
    "tls": bytes.fromhex("16030100c8010000c40303") + bytes(200),
    "no address": b"GET http://[ HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
    "bad upgrade": b"GET /live?token=TOKEN HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nUpgrade: websocket\r\n\r\n",
}


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_on_the_port_harms_nobody(name: str, server: Serving) -> None:
    text = NONSENSE[name].replace(b"TOKEN", server.token.encode()).replace(b"PORT", str(server.port).encode())
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as client:
        client.sendall(text)
        client.shutdown(socket.SHUT_WR)
        answer = b""
        try:
            while piece := client.recv(65536):
                answer += piece
        except ConnectionResetError:
            pass
    assert b" 200 " not in answer and b" 500 " not in answer and b"Traceback" not in answer
    assert server.get("/frames?token={token}&run=1&first=0&count=1&every=1")[0] == 200


# -- how it begins and ends --------------------------------------------------------------------------


def refused(*arguments: str, cwd: Path) -> tuple[int, str]:
    done = forked.command(("view", *arguments, "--no-browser"), cwd)
    assert done.stdout == "" and "Traceback" not in done.stderr
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1, done.stderr
    return done.returncode, done.stderr


def test_files_that_cannot_be_shown(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "scenario.toml").write_text("title = 'x'\n")
    (tmp_path / "cut.nc").write_bytes((folder / "a.nc").read_bytes()[:60_000])
    for names, words in (
        (["cut.nc"], "cut.nc: damaged: it has 60000 bytes"),
        ([str(folder / "a.nc"), "missing.nc"], "missing.nc: no such file"),
    ):
        code, message = refused(*names, cwd=tmp_path)
        assert code == 4 and words in message
    done = forked.command(("view", "scenario.toml", "--no-browser"), tmp_path)
    assert done.returncode == 2 and "scenario.toml: string: missing" in done.stderr
    code, message = refused("a.nc", "--set", "body.mass=2", cwd=folder)
    assert code == 2 and "--set: expected with a scenario, got the run file a.nc" in message
    code, message = refused(*5 * ["a.nc"], cwd=folder)
    assert code == 2 and "runs: expected one to 4, got 5" in message


def test_a_scenario_is_run_for_the_page_alone(server: Serving, tmp_path: Path) -> None:
    """By a server with a port and a token of its own."""
    with serving("view", "fixed-length", "--set", "run.duration=0.2", cwd=tmp_path) as other:
        assert other.get("/?token={token}")[0] == 200
        assert other.port != server.port and other.token != server.token and len(other.token) >= 20
        assert other.get(f"/?token={server.token}")[0] == 403
        assert other.stop()[0] == 0
    assert not list(tmp_path.iterdir())


def test_a_port_in_use(server: Serving, folder: Path) -> None:
    code, message = refused("a.nc", "--port", str(server.port), cwd=folder)
    assert code == 4 and f"--port {server.port}" in message and "in use" in message


def test_half_open_connections_on_a_chosen_port_block_neither_an_answer_nor_the_end(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    with serving("view", "a.nc", "--port", str(port), cwd=folder) as server:
        assert server.port == port
        held = [socket.create_connection(("127.0.0.1", port)) for _ in range(30)]
        for k, client in enumerate(held):
            client.sendall(b"GET /?token=" + b"x" * k if k % 2 else b"")
        assert server.get("/?token={token}")[0] == 200
        code, _, err = server.stop()
        assert (code, err) == (0, "")
        for client in held:
            client.close()


# -- long runs ---------------------------------------------------------------------------------------


def peak_memory(process: int) -> float:
    """The most that a process has held (MB)."""
    text = Path(f"/proc/{process}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", text)
    assert found is not None
    return int(found[1]) / 1e3


@pytest.mark.long
def test_a_million_samples(tmp_path: Path, report: Report) -> None:
    """Answers have the size of a picture, not of the run, and memory stays that of a few curves."""
    p = tl.pendulum(
        string=tl.String(length=10.0, density=0.05, stiffness=100.0, law="linear"),
        reel=tl.Reel(drum_radius=0.3, guide_length=0.4, inertia_mass=0.8),
        body=tl.RigidBody.point(0.5),
        elements=1,
    )
    names = [curve.name for curve in curves_of(p)[1]]
    path = tmp_path / "long.nc"
    start = tl.Straight(4.0, (1.0, 0.0, 1.0), end_velocity=(0.0, 1.0, 0.0))
    tl.run_to_file(path, p, start, tl.Locked(), duration=1000.0, step=1e-3, sample=1e-3)
    size = os.path.getsize(path) / 1e6
    try:
        with serving("view", "long.nc", cwd=tmp_path) as server:
            for name, query in (
                ("plots", "plots?token={token}&run=0&from=0&to=1000&points=2000"),
                ("first frames", "frames?token={token}&run=0&first=0&count=256&every=1"),
                ("coarse frames", "frames?token={token}&run=0&first=0&count=256&every=4096"),
                ("zoom", "plots?token={token}&run=0&from=500&to=500.5&points=2000"),
            ):
                status, body = server.get(f"/{query}")
                assert status == 200
                row = 4 * 23 if "frames" in name else 8 * (1 + len(names))  # frames: docs/viewer-protocol.md
                assert 200 <= len(body) // row <= (256 if "frames" in name else 2000)
                if name == "plots":
                    columns = np.frombuffer(body, "<f8").reshape(1 + len(names), -1)
            memory = peak_memory(server.process.pid)
        stretched = tl.open_run(path).stretched_length.values
        found = columns[1 + names.index("stretched_length")]
        assert (found.min(), found.max()) == (stretched.min(), stretched.max())
    finally:
        path.unlink()
    report(f"a million samples, {size:.0f} MB: peak memory (MB)", check_below("memory", memory, 700.0), "< 700")


def test_only_get_and_head_are_answered(server: Serving) -> None:
    page = "/?token={token}"
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PROPFIND"):
        assert server.get(page, method=method)[0] == 405
    assert server.get(page, method="HEAD") == (200, b"")


def test_pages_say_what_may_run_in_them(server: Serving, folder: Path) -> None:
    """Each script of the page by its hash, and connections to the server alone; nothing at all from a report."""
    text = server.get("/?token={token}")[1].decode()
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', text)
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    assert rules["script-src"].split() == [f"'sha256-{digest}'" for digest in digests]
    assert rules["default-src"] == "'none'"
    assert "'self'" in rules["connect-src"] and "http" not in rules["connect-src"]
    offline = tl.view(tl.open_run(folder / "a.nc")).save(folder / "a.html").read_text(encoding="utf-8")
    assert "connect-src 'none'" in offline and all(digest in offline for digest in digests)
    assert "script-src 'none'; " in page("A report", "<p>text</p>")
    assert text.index("Content-Security-Policy") < text.index("<style>")
