"""Run a plan: play it, let it come to rest, publish a last round of events, and judge."""

from collections.abc import Callable, Generator, Iterable, Sequence
from traceback import format_exception_only
from typing import Final

import msgspec

from boolcast.model.identifiers import BrokerId
from boolcast.routing.protocol.configuration import Configuration, settings_of
from boolcast.routing.protocol.effects import Complain, Effect
from boolcast.simulation.judging.checker import Checker, Verdict
from boolcast.simulation.judging.metrics import Metrics
from boolcast.simulation.judging.traces import Trace
from boolcast.simulation.network.observation import Observer
from boolcast.simulation.network.simulator import Simulation
from boolcast.simulation.scenarios import faults, histories
from boolcast.simulation.scenarios.plans import Drawn, Links, Plan, draw
from boolcast.simulation.workers import run_in_processes

_PROBES: Final = 500
"""How often a run is probed for rest, besides before every action."""

_ALWAYS_SHOWN: Final = (
    *("propagation", "covering", "covering.advertisements", "propagation.overlap"),
    "unsubscription",
)
_INCREMENTAL: Final = (
    *("unsubscription.threshold", "unsubscription.slack", "unsubscription.collects_ghosts"),
)
_NEVER_SHOWN: Final = ("engine", "durable", "acknowledgement_seconds")
_DEFAULTS: Final = settings_of(Configuration())

_COMPLAINTS: Final = 100
"""How many complaints are kept."""

_PATIENCE_SECONDS: Final = 7_200.0
"""How much virtual time a network has to come to rest when all faults are over."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a run. `trace` is the hash of all that brokers did; `error` if one broke."""

    seed: int
    brokers: int
    policy: str
    faults: int
    seconds: float
    messages: int
    came_to_rest: bool
    verdict: Verdict | None
    trace: str
    left_out: Links = ()
    """The links of the topology that close a cycle."""
    complaints: tuple[str, ...] = ()
    """What brokers had to say of each other, though all keep to the protocol: the first few."""
    error: str = ""

    @property
    def is_right(self) -> bool:
        """True if nothing was wrong."""
        return self.came_to_rest and not self.complaints and not self.error and bool(self.verdict)

    def problems(self) -> list[str]:
        """What was wrong, in words."""
        found = [self.error] if self.error else []
        if not self.error and not self.came_to_rest:
            found.append("the network never came to rest")
        found += self.complaints
        if self.verdict is not None:
            found += map(str, self.verdict.violations)
        return found


class _Complaints(Observer):
    """Takes down what brokers have to say of each other."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def remarks(self, time: float, broker: BrokerId, effect: Effect) -> None:
        if isinstance(effect, Complain) and len(self.found) < _COMPLAINTS:
            self.found.append(f"{broker} complains of {effect.link}: {effect.error}, {time:.3f} s")


class Run:
    """A plan at work. `outcome` does all; `begin`, `play` and `finish` are its parts.

    With `looks` there are metrics, taken so many times.
    """

    def __init__(
        self, plan: Plan, *, looks: int | None = None, observers: Iterable[Observer] = ()
    ) -> None:
        self.plan = plan
        self.drawn: Drawn = draw(plan)
        self.checker = Checker(seed=plan.seed)
        self.trace = Trace()
        self.metrics = None if looks is None else Metrics(self.drawn.topology)
        self._complaints = _Complaints()
        watching: list[Observer] = [self.checker, self.trace, self._complaints, *observers]
        if self.metrics is not None:
            watching.append(self.metrics)
        self.simulation = Simulation(
            self.drawn.topology,
            self.drawn.configuration,
            seed=plan.seed,
            wires=self.drawn.wires,
            costs=plan.costs,
            observers=watching,
            is_direct=self.drawn.is_direct,
            statistics=self.drawn.statistics,
        )
        self.came_to_rest = True
        self._looks = looks

    def outcome(
        self, *, slices: int = 1, tell: Callable[[float, str], None] = lambda share, text: None
    ) -> Outcome:
        """Run the plan to its end; `tell` hears after each slice of time how far it is.

        An exception becomes part of the outcome: a run is there to find it.
        """
        simulation = self.simulation
        try:
            self.begin()
            for done in range(1, slices + 1):
                self.play(self.start + (self.end - self.start) * done / slices)
                tell(done / slices, f"{simulation.now:,.1f} s, {simulation.messages:,} messages")
            return self.finish()
        except Exception as error:  # noqa: BLE001 - see above
            return self.judged(error="".join(format_exception_only(error)).strip())

    def begin(self) -> None:
        """Bring in what is there when the clock starts, and put the rest on the agenda."""
        simulation, scenario, looks = self.simulation, self.drawn.scenario, self._looks
        if scenario.beginning:
            self.came_to_rest = simulation.set_up(scenario.beginning)
        self.start = simulation.now
        self.end = self.start + scenario.seconds
        histories.play(
            simulation, (each._replace(at=each.at + self.start) for each in scenario.actions)
        )
        faults.plan(
            simulation,
            [msgspec.structs.replace(each, at=each.at + self.start) for each in self.drawn.faults],
        )
        simulation.timeline.repeat(scenario.seconds / _PROBES, self.end, simulation.look_for_rest)
        if self.metrics is not None and looks is not None:
            self.metrics.watch(simulation, scenario.seconds / looks, self.end)

    def play(self, until: float) -> None:
        """Let virtual time pass up to that moment."""
        self.simulation.timeline.run(until)

    def finish(self) -> Outcome:
        """Let the rest of it pass, come to rest, and judge."""
        simulation = self.simulation
        self.play(
            max([self.end, *(self.start + each.at + each.seconds for each in self.drawn.faults)])
        )
        self.came_to_rest = simulation.settle(_PATIENCE_SECONDS) and self.came_to_rest
        if self.plan.workload == "random":
            histories.final_round(simulation)
            self.came_to_rest = simulation.settle(_PATIENCE_SECONDS) and self.came_to_rest
        if self.metrics is not None:
            self.metrics.look(simulation)
        if self.plan.workload == "random":
            for name in simulation.topology.brokers:
                simulation.broker(name).validate()
        return self.judged(verdict=self.checker.verdict())

    def judged(self, *, verdict: Verdict | None = None, error: str = "") -> Outcome:
        """What came of it so far; without a verdict something broke."""
        return Outcome(
            seed=self.plan.seed,
            brokers=len(self.drawn.topology.brokers),
            policy=describe(self.drawn),
            faults=len(self.drawn.faults),
            seconds=self.simulation.now,
            messages=self.simulation.messages,
            came_to_rest=self.came_to_rest and not error,
            verdict=verdict,
            trace=self.trace.digest,
            left_out=self.drawn.left_out,
            complaints=tuple(self._complaints.found),
            error=error,
        )


def describe(drawn: Drawn) -> str:
    """The policies of a run, as the option of the command line takes them."""
    settings = settings_of(drawn.configuration)
    shown = dict.fromkeys(_ALWAYS_SHOWN)
    if drawn.configuration.policies.unsubscription.is_incremental:
        shown |= dict.fromkeys(_INCREMENTAL)
    changed = (path for path, value in settings.items() if value != _DEFAULTS[path])
    shown |= dict.fromkeys(path for path in changed if path not in _NEVER_SHOWN)
    return ",".join(f"{path}={str(settings[path]).lower()}" for path in shown)


def outcome_of(plan: Plan) -> Outcome:
    """Run a plan to its end."""
    return Run(plan).outcome()


def outcomes(plans: Sequence[Plan], *, cores: int) -> Generator[Outcome, None, None]:
    """Run plans on so many cores; outcomes come in the order of the plans."""
    if cores == 1:
        yield from map(outcome_of, plans)
    else:
        yield from run_in_processes(outcome_of, plans, cores=cores, after_death=_after_death)


def _after_death(plan: Plan, exit_code: int) -> Outcome:
    """What is left to say of a run whose process has died."""
    return Run(plan).judged(error=f"its process ended with {exit_code}")
