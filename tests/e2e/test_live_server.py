"""`tautline live` as a process, driven over its websocket: what it says and does by docs/viewer-protocol.md."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import random
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from websockets.asyncio.client import connect as connect_async
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

import tautline as tl
from tautline.viewer.live_server import _send
from tests.conftest import Report
from tests.support.browser import Serving, serving
from tests.support.checking import check_below, check_close
from tests.support.commands import tautline
from tests.support.crane import crane

STEP = 5e-4  # the paper's; the scenario by itself chooses its steps
ELEMENTS = 20
CRANE_STEP = 1.0 / 14400.0  # 240 make the time between two states; ropes that snap taut need small ones
# Error of the energy balance over the energy in play at these steps. Measured, whenever commands come: up to 1.1e-4 of
# the crane in 60 runs; the work of a motor that is not booked is some tenths.
STEP_ERROR = 1e-3
STATES_A_SECOND = 60  # docs/viewer-protocol.md
AT_ONCE = 3  # states that a server which is late makes at one wake-up
PATIENCE = 20.0  # s; nothing here takes a tenth of it


class Pilot:
    """Page without a browser: keeps the newest state and status, and asks for things."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.number = 0
        self.status: dict[str, Any] = {}
        self.raw = b""
        self.states = 0
        self.in_play = 0.0
        self._at_start = (math.inf, 0.0)
        hello = json.loads(self._text())
        assert hello["type"] == "hello"
        self.meta: dict[str, Any] = hello["meta"]
        self.status = hello["status"]
        self.names = ["time", *(series["name"] for series in self.meta["series"])]
        self.wait(lambda: self.states > 0)
        self.first = self.raw

    def _text(self) -> str:
        message = self.socket.recv(timeout=PATIENCE)
        assert isinstance(message, str)
        return message

    def take(self) -> dict[str, Any] | None:
        """The next message: a state is kept, a text is kept if it tells the status, and returned."""
        message = self.socket.recv(timeout=PATIENCE)
        if isinstance(message, bytes):
            self._keep(message)
            return None
        told: dict[str, Any] = json.loads(message)
        if "status" in told:
            self.status = told["status"]
        return told

    def _keep(self, raw: bytes) -> None:
        """Keep a state, and the largest sum of kinetic energy and change of potential energy since the start."""
        self.raw = raw
        self.states += 1
        potential = self["elastic_energy"] + self["gravity_energy"]
        if self["time"] < self._at_start[0]:
            self._at_start, self.in_play = (self["time"], potential), 0.0
        self.in_play = max(self.in_play, self["kinetic_energy"] + abs(potential - self._at_start[1]))

    def check_balance(self, part: float) -> None:
        """Energy less work plus losses has stayed the same, but for a part of the energy in play."""
        check_below("error of the energy balance, over the energy in play", abs(self["balance"]) / self.in_play, part)

    def pause(self) -> None:
        """Pause, and take all states that were on their way: each message about a pause brings the state once more."""
        before = math.nan
        while True:
            self.number += 1
            told = self.reply(json.dumps({"type": "pause", "on": True, "id": self.number}))
            assert told == {"type": "ok", "id": self.number}
            if self.next()["time"] == before:
                return
            before = self["time"]

    def reply(self, text: str | bytes) -> dict[str, Any]:
        """Send anything at all; the answer to it."""
        self.socket.send(text)
        while True:
            told = self.take()
            if told is not None and told["type"] in ("ok", "refused"):
                return told

    def ask(self, kind: str, **values: Any) -> None:
        """Send a command, which must be obeyed; then wait for a state that comes after it."""
        self.number += 1
        told = self.reply(json.dumps({"type": kind, "id": self.number, **values}))
        assert told == {"type": "ok", "id": self.number}
        if kind in ("reset", "impulse") or not (self.status["paused"] or self.status["ended"]):
            self.next()

    def next(self) -> Pilot:
        seen = self.states
        self.wait(lambda: self.states > seen)
        return self

    def wait(self, until: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not until():
            assert time.monotonic() < deadline, f"waited in vain; {self.status}"
            self.take()

    def more(self, count: int) -> list[bytes]:
        """The next states, so many of them."""
        states = []
        for _ in range(count):
            states.append(self.next().raw)
        return states

    def for_time(self, seconds: float) -> list[bytes]:
        """All states that come in so many seconds of the clock."""
        end, states = time.monotonic() + seconds, []
        while (left := end - time.monotonic()) > 0.0:
            with contextlib.suppress(TimeoutError):
                message = self.socket.recv(timeout=left)
                if isinstance(message, bytes):
                    states.append(message)
                    self._keep(message)
        return states

    @property
    def size(self) -> int:
        """Numbers of a frame."""
        elements = [int(line["elements"]) for line in self.meta["lines"]]
        drums = sum(line["reel"] is not None for line in self.meta["lines"])
        return 1 + drums + 4 * len(elements) + 5 * sum(elements) + 12 * len(self.meta["bodies"])

    def rows(self, raw: bytes) -> np.ndarray:
        """Times and curves in a message, a row for each sample; the last one is of the state."""
        return np.frombuffer(raw, "<f8")[: -self.size].reshape(-1, len(self.names))

    def times(self, states: list[bytes]) -> np.ndarray:
        return np.array([self.rows(raw)[-1, 0] for raw in states])

    def __getitem__(self, name: str) -> float:
        return float(self.rows(self.raw)[-1, self.names.index(name)])

    @property
    def reel(self) -> dict[str, Any]:
        """Status of the only reel."""
        (found,) = self.status["reels"].values()
        return dict(found)

    @property
    def limits(self) -> dict[str, Any]:
        """Limits of its torque and speed."""
        (found,) = self.meta["limits"]["reels"].values()
        return dict(found)

    def frame(self) -> dict[str, np.ndarray]:
        """Numbers of the newest state."""
        numbers = np.frombuffer(self.raw, "<f8")[-self.size :]
        n = self.meta["lines"][0]["elements"]
        nodes = numbers[3 : 3 + 3 * (n + 1)].reshape(-1, 3)  # behind the length on the drum and how far that has turned
        return {"time": numbers[0], "reeled_length": numbers[1], "position": nodes}


def door(server: Serving) -> str:
    return server.address.replace("http", "ws").replace("/?", "/live?")


@contextlib.contextmanager
def flying(server: Serving) -> Iterator[Pilot]:
    # no limit to what waits to be read: a client that stops reading would not hear the farewell either
    with connect(door(server), open_timeout=PATIENCE, max_queue=None) as socket:
        yield Pilot(socket)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("live")
    words = ("live", "retrieval", f"--set=run.step={STEP}", "--record", str(folder / "flight.nc"))
    with serving(*words, cwd=folder) as started:
        yield started


@pytest.fixture
def pilot(server: Serving) -> Iterator[Pilot]:
    """At the start of the run, at the rate of the clock."""
    with flying(server) as found:
        found.ask("pause", on=False)
        found.ask("rate", value=1.0)
        found.ask("reset")
        yield found


# -- states and commands -----------------------------------------------------------------------------


def test_sixty_states_in_a_second_of_the_simulation(pilot: Pilot) -> None:
    """At the paper's step and 20 elements: none is left out, and none is ahead of the clock."""
    assert pilot.meta["lines"][0]["elements"] == ELEMENTS
    begun = time.monotonic()
    times = pilot.times(pilot.more(90))
    steps = np.diff(times) / STEP
    # times are sums of steps: right to rounding
    np.testing.assert_allclose(steps, round(1.0 / STATES_A_SECOND / STEP), atol=1e-6)
    # states that were on their way when the clock was looked at may be some ahead; a slow machine is behind
    assert times[-1] - times[0] < time.monotonic() - begun + 2 * AT_ONCE / STATES_A_SECOND


def test_torque_is_obeyed_at_once(pilot: Pilot, report: Report) -> None:
    """From the answer to the first state in which a drum that stood still turns; some may still be on their way."""
    rng = random.Random(1)
    waits = []
    for _ in range(9):
        pilot.ask("lock")
        pilot.wait(lambda: pilot["reel_speed"] == 0.0)
        pilot.for_time(0.02 + rng.uniform(0.0, 1 / 60))  # anywhere between two states
        assert pilot["reel_speed"] == 0.0
        assert pilot.reply(json.dumps({"type": "torque", "value": 6.0, "id": 1}))["type"] == "ok"
        answered = pilot.states
        pilot.wait(lambda: pilot["reel_speed"] != 0.0)
        waits.append(pilot.states - answered)
    assert pilot["reel_speed"] > 0.0, "a positive torque retrieves"
    report("live: states until a torque is obeyed, at most", max(waits), f"< {AT_ONCE + 2}")
    check_below("states", max(waits), AT_ONCE + 2)


def test_lock_free_and_torque(pilot: Pilot) -> None:
    pilot.ask("lock")
    assert pilot.reel["mode"] == "locked"
    pilot.wait(lambda: pilot["reel_speed"] == 0.0)
    reeled = pilot.frame()["reeled_length"]
    pilot.more(12)
    assert pilot["reel_speed"] == 0.0 and pilot.frame()["reeled_length"] == reeled
    pilot.ask("free")
    pilot.more(18)
    assert pilot.reel["mode"] == "free"
    assert pilot["reel_speed"] < 0.0 and pilot.frame()["reeled_length"] < reeled, "the weight pulls the string out"
    pilot.ask("torque", value=8.0)
    pilot.wait(lambda: pilot["reel_speed"] > 0.0)
    assert pilot.reel["mode"] == "torque" and pilot.reel["torque"] == 8.0
    pilot.ask("lock")
    assert pilot.reel["mode"] == "locked"
    pilot.wait(lambda: pilot["reel_speed"] == 0.0)
    # whatever was done to the reel: energy is booked; what is left is the error of the step
    pilot.check_balance(STEP_ERROR)
    # the mark on the slider: with this torque a drum at rest stays at rest
    pilot.pause()
    pilot.ask("reset")
    pilot.wait(lambda: pilot["time"] == 0.0)
    pilot.ask("torque", value=pilot.reel["hold"])
    pilot.ask("pause", on=False)
    pilot.more(30)
    check_below("speed of a drum that is held by its torque (m/s)", abs(pilot["reel_speed"]), 0.3)


def test_pause_and_going_on(pilot: Pilot) -> None:
    pilot.pause()
    assert pilot.status["paused"] and not pilot.status["running"]
    time_then = pilot["time"]
    assert pilot.times(pilot.for_time(0.4)).tolist() == []
    pilot.ask("pause", on=False)
    pilot.next()
    assert 0.0 < pilot["time"] - time_then < 0.3, "the time of the pause was not simulated"


@pytest.mark.parametrize("rate", [0.2, 3.0])
def test_rate(rate: float, pilot: Pilot) -> None:
    """States keep coming; the time between them is so many times longer, and curves are sampled as before."""
    pilot.ask("rate", value=rate)
    assert pilot.status["rate"] == rate  # a status is told before the answer to what has changed it
    states = pilot.more(20)
    interval = pilot.meta["interval"]
    assert interval == pytest.approx(round(1.0 / STATES_A_SECOND / STEP) * STEP)
    expected = 3 * interval if rate > 1.0 else round(rate * interval / STEP) * STEP
    # the first may have been computed before; times are sums of steps, right to rounding
    np.testing.assert_allclose(np.diff(pilot.times(states)[AT_ONCE:]), expected, atol=STEP if rate < 1.0 else 1e-9)
    if rate > 1.0:
        times = np.concatenate([pilot.rows(raw)[:, 0] for raw in states[AT_ONCE:]])
        np.testing.assert_allclose(np.diff(times), interval, rtol=1e-6)


def test_a_page_that_comes_later_has_the_curves_so_far(pilot: Pilot, server: Serving) -> None:
    states = pilot.more(40)
    seen = np.concatenate([pilot.rows(raw) for raw in states])
    n = pilot.meta["lines"][0]["elements"]
    tension = np.array([np.frombuffer(raw, "<f8")[-2 * n : -n] for raw in states])
    with flying(server) as other:
        past = other.rows(other.first)
    assert past[0, 0] == 0.0 and len(past) > 40
    np.testing.assert_allclose(np.diff(past[:, 0]), pilot.meta["interval"], rtol=1e-6)
    both = np.isin(past[:, 0], seen[:, 0])
    assert both.sum() > 30
    np.testing.assert_array_equal(past[both], seen[np.isin(seen[:, 0], past[:, 0])])
    low, high = other.meta["ranges"]["tension"]
    assert low <= tension.min() and high >= tension.max(), "colors as on the page that saw all of it"


def test_a_body_is_pulled_and_let_go(pilot: Pilot) -> None:
    """By a spring, whose work is booked; it ends when nobody asks for it any more."""
    pilot.ask("lock")
    pilot.wait(lambda: pilot["reel_speed"] == 0.0)
    start = pilot.frame()["position"][-1]
    told = pilot.reply(json.dumps({"type": "pull", "to": [1, 2], "id": 5}))
    assert told["type"] == "refused" and told["why"].startswith("to: expected 3 finite numbers")
    pilot.ask("pull", to=[0.0, 4.0, float(start[2])])
    pilot.wait(lambda: pilot.frame()["position"][-1, 1] > 1.0)
    pilot.check_balance(STEP_ERROR)  # the work of the spring is booked
    pilot.ask("pull", to=None)
    pilot.more(AT_ONCE)  # on their way
    energy = pilot["energy"]
    pilot.more(10)
    assert pilot["energy"] == pytest.approx(energy, abs=0.02), "nothing pulls any more"


def test_reset(pilot: Pilot) -> None:
    pilot.ask("torque", value=5.0)
    pilot.more(24)
    pilot.pause()
    moved = pilot.frame()["position"]
    pilot.ask("reset")
    pilot.wait(lambda: pilot["time"] == 0.0)
    start = pilot.frame()
    # the scenario: 10 m of straight string, 15 degrees from the vertical
    tilt = np.radians(15.0)
    line = np.linspace(0.0, 10.0, ELEMENTS + 1)[:, None] * [np.sin(tilt), 0.0, np.cos(tilt)]
    check_close("positions at the start", start["position"] - start["position"][0], line, 1e-9)
    low, high = np.array(pilot.meta["bounds"])
    assert (start["position"] > low).all() and (start["position"] < high).all(), "in sight from the start"
    assert np.abs(moved - start["position"]).max() > 0.01
    assert pilot.reel["mode"] == "torque" and pilot.reel["torque"] == pytest.approx(2.09)
    pilot.ask("pause", on=False)


def test_impulse(pilot: Pilot) -> None:
    """Momenta jump and positions do not; the energy that came is booked as work."""
    pilot.pause()
    before = {name: pilot[name] for name in ("time", "kinetic_energy", "balance", "gravity_energy")}
    position = pilot.frame()["position"]
    pilot.ask("impulse", impulse=[0.0, 0.3, 0.0])
    # a body of 0.1 kg hit with 0.3 N s while it moves at 0.5 m/s: about J v + J^2 / 2 m, less the mass at the far end
    gained = pilot["kinetic_energy"] - before["kinetic_energy"]
    assert 0.3 < gained < 0.3 * 1.0 + 0.3**2 / 0.2
    assert pilot["time"] == before["time"] and pilot["gravity_energy"] == before["gravity_energy"]
    np.testing.assert_array_equal(pilot.frame()["position"], position)
    assert abs(pilot["balance"] - before["balance"]) < 1e-12
    pilot.ask("pause", on=False)


@pytest.mark.parametrize("rate", [1.0, 0.34])
def test_recordings(rate: float, pilot: Pilot, server: Serving) -> None:
    """A file with what was seen, at one interval of the simulation whatever the rate; each under its own name."""
    pilot.ask("rate", value=rate)
    pilot.ask("record", on=True)
    path = Path(pilot.status["recording"])
    seen = pilot.more(30)
    pilot.ask("record", on=False)
    pilot.wait(lambda: "saved" in pilot.status["message"])
    assert pilot.status["recording"] is None and str(path) in pilot.status["message"]
    run = tl.open_run(path)
    assert run.attrs["status"] == "completed" and path.name.startswith("flight")
    times = run.time.values
    np.testing.assert_allclose(np.diff(times), pilot.meta["interval"], rtol=1e-6)
    found = {round(pilot.rows(state)[-1, 0] / STEP): state for state in seen}
    both = [k for k, t in enumerate(times) if round(t / STEP) in found]
    assert len(both) >= 3, "what was recorded is what was shown"
    for k in both:
        frame = np.frombuffer(found[round(times[k] / STEP)], "<f8")[-pilot.size :]
        np.testing.assert_array_equal(run.position.values[k], frame[3:][: 3 * (ELEMENTS + 1)].reshape(-1, 3))
    info = tautline("info", str(path), "--json", cwd=path.parent)
    assert json.loads(info.stdout)["rows"] == len(times)


# -- what is refused ---------------------------------------------------------------------------------

DEEP = "[" * 900 + "]" * 900
LONG = "9" * 4000
BAD: dict[str, tuple[str | bytes, str]] = {
    "garbage": ("garbage", "expected JSON"),
    "list": ("[1]", "expected an object"),
    "too deep": ("[" * 15_000, "expected JSON"),
    "bytes": (b"\0\1", "expected text"),
    "no type": ('{"id": 5}', "type: expected one of"),
    "unknown type": ('{"type": "explode", "id": 5}', "'explode'"),
    "deep type": (f'{{"id": 5, "type": {DEEP}}}', "type: expected one of"),
    "surrogate": ('{"type": "\\ud800", "id": 5}', "type: expected one of"),
    "no value": ('{"type": "torque", "id": 5}', "value: expected a finite number"),
    "truth": ('{"type": "torque", "value": true, "id": 5}', "value: expected a finite number"),
    "nan": ('{"type": "torque", "value": NaN, "id": 5}', "value: expected a finite number"),
    "overflow": ('{"type": "torque", "value": 1e999, "id": 5}', "value: expected a finite number"),
    "long": (f'{{"type": "torque", "value": {LONG}, "id": 5}}', "value: expected a finite number"),
    "large": ('{"type": "torque", "value": 1e6, "id": 5}', "value: expected -"),
    "rate": ('{"type": "rate", "value": 0, "id": 5}', "value: expected 0.05 to 20"),
    "switch": ('{"type": "pause", "on": 1, "id": 5}', "on: expected a bool"),
    "nan impulse": ('{"type": "impulse", "impulse": [NaN, 0, 0], "id": 5}', "impulse: expected 3 finite numbers"),
    "hard impulse": ('{"type": "impulse", "impulse": [1e3, 0, 0], "id": 5}', "impulse: expected at most"),
    "deep impulse": (f'{{"type": "impulse", "impulse": {DEEP}, "id": 5}}', "impulse: expected 3 finite numbers"),
    "held": ('{"type": "speed", "value": 0.1, "held": 1, "id": 5}', "held: expected a bool"),
    "beyond the rope": ('{"type": "length", "value": 1e6, "id": 5}', "value: expected 1 to "),
    "too fast": ('{"type": "length", "value": 9, "speed": 1e6, "id": 5}', "speed: expected 0."),
    "nothing carries": ('{"type": "carry", "body": "jib", "to": [0, 0, 0], "id": 5}', "body: there is none to choose"),
    "alarm": ('{"type": "alarm", "value": -1, "id": 5}', "value: expected a positive"),
    "nothing recorded": ('{"type": "record", "on": false, "id": 5}', "nothing is being recorded"),
}


def test_nonsense_is_refused_with_a_reason(pilot: Pilot) -> None:
    """And the id comes back, where there was one; the simulation goes on as if nothing had been said."""
    for name, (text, words) in BAD.items():
        told = pilot.reply(text)
        assert told["type"] == "refused" and words in told["why"], f"{name}: {told}"
        assert told["id"] == (5 if '"id": 5' in str(text) else None), name
        assert len(told["why"]) < 300, name
    for number in (0, "a name", True):
        assert pilot.reply(json.dumps({"type": "explode", "id": number}))["id"] == number
    for text in (f'{{"type": "x", "id": {LONG}}}', '{"type": "x", "id": {"a": 1}}', '{"type": "x", "id": [1]}'):
        assert pilot.reply(text)["id"] is None
    assert pilot.reel["mode"] == "torque" and pilot.reel["torque"] == pytest.approx(2.09)
    pilot.next()


def test_too_large_a_message_costs_one_connection(pilot: Pilot, server: Serving) -> None:
    with flying(server) as other:
        other.socket.send("x" * 20_000)
        with pytest.raises(ConnectionClosed) as closed:
            other.for_time(5.0)
        assert closed.value.rcvd is not None and closed.value.rcvd.code == 1009
    pilot.next()
    pilot.ask("free")


def test_strangers_are_refused_at_the_door(server: Serving) -> None:
    address = door(server)
    doors: list[tuple[str, dict[str, Any]]] = [
        (address[:-3] + "xyz", {}),
        (address.split("?")[0], {}),
        (address, {"origin": "http://evil.example"}),
        (address, {"additional_headers": {"Host": "evil.example"}}),
    ]
    for where, options in doors:
        with pytest.raises(InvalidStatus) as refused, connect(where, **options):
            pass
        assert refused.value.response.status_code == 403


# -- several viewers ---------------------------------------------------------------------------------


def test_two_viewers_see_the_same(pilot: Pilot, server: Serving) -> None:
    with flying(server) as other:
        first, second = pilot.more(30), other.more(30)
        mine, theirs = ({state[:8]: state for state in states} for states in (first, second))
        both = mine.keys() & theirs.keys()
        assert len(both) > 10
        assert all(mine[key] == theirs[key] for key in both)
        pilot.ask("pause", on=True)
        other.wait(lambda: other.status["paused"])
        pilot.ask("pause", on=False)


def test_a_page_that_floods_does_not_hold_up_the_others(server: Serving) -> None:
    """Another page is served while the messages go on and on."""
    over = threading.Event()
    with connect(door(server), max_queue=None) as flood:

        def send() -> None:
            while not over.is_set():
                flood.send(json.dumps({"type": "torque", "value": 1.0}))

        sending = threading.Thread(target=send)
        sending.start()
        try:
            with flying(server) as other:
                other.ask("free")
                assert server.get("/?token={token}")[0] == 200
        finally:
            over.set()
            sending.join()


def test_a_page_that_sends_nonsense_without_end_is_closed(server: Serving) -> None:
    with connect(door(server), max_queue=None) as flood, pytest.raises(ConnectionClosed) as closed:
        for _ in range(1000):
            flood.send("{")
        while True:
            flood.recv(timeout=PATIENCE)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1008 and "cannot be read" in closed.value.rcvd.reason
    with flying(server) as other:
        other.ask("reset")
        other.next()


def flying_together(server: Serving, count: int) -> tuple[contextlib.ExitStack, list[Pilot]]:
    """So many pages at once, as soon as those of earlier tests have left; they leave with the stack."""
    deadline = time.monotonic() + PATIENCE
    while True:
        with contextlib.ExitStack() as stack, contextlib.suppress(ConnectionClosed):
            pilots = [stack.enter_context(flying(server)) for _ in range(count)]
            return stack.pop_all(), pilots
        assert time.monotonic() < deadline, "no place gets free"
        time.sleep(0.1)


def test_the_ninth_viewer_is_refused_with_a_reason(server: Serving) -> None:
    stack, pilots = flying_together(server, 8)
    with stack:
        with connect(door(server)) as ninth, pytest.raises(ConnectionClosed) as closed:
            ninth.recv(timeout=PATIENCE)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1013 and "watching already" in closed.value.rcvd.reason
        pilots[0].ask("reset")
        pilots[0].next()
    stack, (again,) = flying_together(server, 1)  # a place is free
    with stack:
        again.next()


def test_viewers_that_vanish_or_sleep(pilot: Pilot, server: Serving) -> None:
    """One pulls the plug while states stream; another never reads. The third notices nothing."""
    for _ in range(5):
        with contextlib.suppress(ConnectionClosed), flying(server) as lost:
            lost.next()
            # an immediate reset instead of a farewell
            lost.socket.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            lost.socket.socket.close()
    with connect(door(server), max_queue=1, close_timeout=0.1):
        pilot.more(30)


# -- ends --------------------------------------------------------------------------------------------


def rests(pilot: Pilot, deployed: float) -> bool:
    """Whether the only reel rests near a length: one that is driven by torque is stopped some pieces ahead."""
    return pilot.reel["speed"] == 0.0 and bool(abs(pilot.reel["deployed"] - deployed) < 0.5)


def test_soft_stops_at_both_ends_of_the_rope(tmp_path: Path) -> None:
    """Whatever drives it, a drum stops before the rope ends, by its ramp; the run goes on. An alarm tells the worst."""
    settings = ("run.step=auto", "initial.deployed=2", "string.length=14", "run.minimum_length=1")
    with (
        serving("live", "retrieval", *(f"--set={x}" for x in settings), "--alarm", "3 N", cwd=tmp_path) as server,
        flying(server) as pilot,
    ):
        pilot.ask("pause", on=False)
        pilot.ask("rate", value=2.0)
        low, high = pilot.limits["length"]
        assert low == pytest.approx(1.05) and 2.0 < high < 14.0
        assert pilot.status["alarm"] == {"limit": 3.0, "excess": None}
        for command, way, end in (
            (("torque", {"value": pilot.limits["torque"][1]}), "in", low),
            (("torque", {"value": pilot.limits["torque"][0]}), "out", high),
            (("speed", {"value": pilot.limits["speed"][1]}), "in", low),
            (("length", {"value": high, "speed": pilot.limits["speed"][1]}), "out", high),
        ):
            pilot.ask(command[0], **command[1])
            pilot.wait(partial(rests, pilot, end))
            assert not pilot.status["ended"] and pilot.reel["mode"] == "speed"
            if command[0] != "length":
                assert (
                    pilot.reel["end"] == way and f"{'upp' if way == 'in' else 'low'}er end" in pilot.status["message"]
                )
        excess = pilot.status["alarm"]["excess"]
        assert excess["tension"] > 3.0 and excess["line"] == "line" and 0.0 < excess["time"] <= pilot["time"]
        pilot.ask("alarm", value=None)
        assert pilot.status["alarm"] == {"limit": None, "excess": None}


def test_a_button_that_is_held_winds_until_it_is_let_go(pilot: Pilot) -> None:
    """Or until nobody renews it: its page may be gone."""
    pilot.ask("speed", value=0.5, held=True)
    pilot.wait(lambda: pilot["reel_speed"] == pytest.approx(0.5))
    held = pilot["time"]
    pilot.wait(lambda: pilot["reel_speed"] == 0.0)
    # 60 pieces, and what it takes to come to rest by the ramp
    check_below(
        "time until a drum rests that nobody holds (s)", pilot["time"] - held, 1.0 + 0.5 / pilot.limits["acceleration"]
    )
    pilot.ask("speed", value=-0.5, held=True)
    pilot.wait(lambda: pilot["reel_speed"] < -0.1)
    pilot.ask("speed", value=0.0, held=True)
    pilot.wait(lambda: pilot["reel_speed"] == 0.0)


def test_what_has_ended_says_so_and_keeps_its_recording(tmp_path: Path) -> None:
    """By a condition of the case: commands are refused with the reason, and a reset starts again."""
    stop = '--set=run.stop=[{variable = "time > 1.5"}]'
    with serving("live", "retrieval", stop, cwd=tmp_path) as server, flying(server) as pilot:
        pilot.ask("record", on=True)
        pilot.ask("pause", on=False)
        pilot.wait(lambda: pilot.status["ended"])
        status = pilot.status
        assert "Reset to start again" in status["message"] and status["level"] == "warning" and not status["running"]
        assert status["recording"] is None and "the recording was saved" in status["message"].lower()
        for late in ({"type": "free"}, {"type": "impulse", "impulse": [0, 0, 0]}, {"type": "record", "on": True}):
            told = pilot.reply(json.dumps({"id": 1, **late}))
            assert told == {"type": "refused", "id": 1, "why": "the run has ended; reset to start again"}
        pilot.ask("reset")
        assert not pilot.status["ended"] and pilot.status["message"] == "" and pilot["time"] < 1.0
    kept = tl.open_run(tmp_path / "retrieval-live.nc")
    assert kept.attrs["status"] == "condition_met" and float(kept.time[-1]) == pytest.approx(1.5, abs=0.02)


def test_a_program_waits_for_somebody_and_ends_in_holding(tmp_path: Path) -> None:
    settings = ("run.step=auto", "run.duration=0.5")
    with (
        serving("live", "crane-hoist", *(f"--set={x}" for x in settings), cwd=tmp_path) as server,
        flying(server) as pilot,
    ):
        assert set(pilot.times(pilot.for_time(0.5)).tolist()) <= {0.0}
        assert pilot.status["waiting"] and not pilot.status["running"] and pilot.reel["program"]
        pilot.ask("pause", on=False)
        assert not pilot.status["waiting"] and pilot.reel["mode"] == "torque"
        pilot.wait(lambda: pilot["time"] > 1.5)
        pilot.wait(lambda: pilot.reel["speed"] == 0.0 and "The program has ended" in pilot.status["message"])
        assert pilot.status["running"] and pilot.reel["mode"] == "speed" and not pilot.reel["program"]
        pilot.wait(lambda: pilot.status["message"] == "")  # news do not stay for ever


def test_control_c_keeps_a_recording(tmp_path: Path) -> None:
    with serving("live", "fixed-length", "--record", "kept.nc", cwd=tmp_path) as server:
        with flying(server) as pilot:
            pilot.ask("record", on=True)
            pilot.more(30)
            last = pilot["time"]
            code, out, err = server.stop()
        assert (code, err) == (0, "") and "the recording was saved: kept.nc" in out
    run = tl.open_run(tmp_path / "kept.nc")
    assert run.sizes["time"] > 10 and float(run.time[-1]) > last - 0.5 / STATES_A_SECOND, "all that was shown is kept"


# -- several lines and bodies ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def crane_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("crane")
    (folder / "crane.toml").write_text(crane().to_toml(), encoding="utf-8")
    # a program without an end here, and a step that leaves a small error of the balance whenever commands come
    settings = ("--set=run.duration=1000", f"--set=run.step={CRANE_STEP}")
    with serving("live", "crane.toml", *settings, "--record", str(folder / "flight.nc"), cwd=folder) as started:
        yield started


@pytest.fixture
def crane_pilot(crane_server: Serving) -> Iterator[Pilot]:
    with flying(crane_server) as found:
        found.ask("pause", on=False)
        found.ask("reset")
        yield found


def reel_of(pilot: Pilot, name: str) -> dict[str, Any]:
    found: dict[str, Any] = pilot.status["reels"][name]
    return found


def test_reels_are_driven_by_the_names_of_their_lines(crane_pilot: Pilot) -> None:
    pilot = crane_pilot
    assert list(pilot.meta["limits"]["reels"]) == ["hoist", "sling"]
    # told before the clock runs: on a busy machine the torques have moved the reels far when a command comes
    pilot.pause()
    pilot.ask("reset")
    pilot.wait(lambda: pilot["time"] == 0.0)
    assert [reel_of(pilot, name)["torque"] for name in ("hoist", "sling")] == [150.0, 101.0]
    pilot.ask("lock", line="hoist")
    pilot.wait(lambda: reel_of(pilot, "hoist")["mode"] == "locked")
    assert reel_of(pilot, "sling")["mode"] == "torque"
    pilot.ask("speed", line="sling", value=-0.5)
    pilot.wait(lambda: reel_of(pilot, "sling")["mode"] == "speed")
    pilot.ask("pause", on=False)
    pilot.wait(lambda: pilot["reel_speed.sling"] == pytest.approx(-0.5, abs=1e-9))
    assert pilot["reel_speed.hoist"] == 0.0
    pilot.ask("lock", line="sling")
    pilot.wait(lambda: pilot["reel_speed.sling"] == 0.0)
    length = pilot["unstretched_length.sling"]
    pilot.more(10)
    assert pilot["unstretched_length.sling"] == length
    pilot.wait(lambda: reel_of(pilot, "sling")["mode"] == "locked")
    # the reels that hold a body move it; here one from above
    assert pilot.meta["limits"]["steered"] == {"hook": 2.0}
    pilot.ask("steer", body="hook", velocity=[0.0, 0.0, -0.4])
    pilot.wait(lambda: 0.2 < pilot["reel_speed.hoist"] < 0.6)
    pilot.wait(lambda: pilot["reel_speed.hoist"] == 0.0)
    assert reel_of(pilot, "hoist")["mode"] == "speed"
    pilot.ask("free", line="hoist")
    pilot.wait(lambda: pilot["reel_speed.hoist"] < -0.5)
    pilot.check_balance(STEP_ERROR)


def test_each_free_body_can_be_struck(crane_pilot: Pilot) -> None:
    """At once; the body that is held, and names that are not there, are refused."""
    pilot = crane_pilot
    assert pilot.meta["limits"]["impulses"] == {"hook": 100.0, "load": 500.0}
    pilot.pause()
    pilot.ask("reset")
    pilot.wait(lambda: pilot["time"] == 0.0)
    assert pilot["body_velocity.hook"] < 1e-12 and pilot["body_velocity.load"] == pytest.approx(0.4)
    pilot.ask("impulse", body="load", impulse=[0.0, 500.0, 0.0])
    # 10 m/s for 50 kg, less the part that the end of the sling takes
    pilot.wait(lambda: pilot["body_velocity.load"] > 8.0)
    assert pilot["body_velocity.load"] < 11.0 and pilot["time"] == 0.0
    pilot.ask("pause", on=False)
    for kind, key in (("impulse", "body"), ("lock", "line")):  # which of several must be said
        told = pilot.reply(json.dumps({"type": kind, "id": 1, "impulse": [0, 0, 0]}))
        assert told["why"].startswith(f"{key}: expected one of") and told["why"].endswith("got none")
    for kind, key, name in (("impulse", "body", "jib"), ("lock", "line", "stay"), ("free", "line", "hoits")):
        told = pilot.reply(json.dumps({"type": kind, "id": 1, key: name, "impulse": [0, 0, 0]}))
        assert told["type"] == "refused" and told["why"].startswith(f"{key}: expected one of") and name in told["why"]


def test_nothing_is_written_to_a_page_that_went_while_messages_waited(caplog: pytest.LogCaptureFixture) -> None:
    """asyncio complains of the fifth message that is written to a connection that is lost."""

    async def lose(connection: ServerConnection) -> None:
        waiting = [asyncio.ensure_future(_send(connection, "state")) for _ in range(10)]
        connection.transport.abort()
        await asyncio.gather(*waiting)

    async def serve_once() -> None:
        async with serve(lose, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            with contextlib.suppress(ConnectionClosed):
                async with connect_async(f"ws://127.0.0.1:{port}") as page:
                    await page.recv()

    asyncio.run(serve_once())
    assert not [record for record in caplog.records if record.name == "asyncio"]
