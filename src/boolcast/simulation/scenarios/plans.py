"""A run as text: topology, workload, policy, faults, seed. The seed draws what is `random`.

The texts are those of the command line: `line:5`, `groups`, `active`, `cut:3,loss:0.1`.
"""

from functools import cache
from math import inf
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

import msgspec

from boolcast.errors import FileError, UsageError
from boolcast.model.identifiers import BrokerId
from boolcast.model.statistics import Statistics
from boolcast.routing.protocol.configuration import (
    PRESETS,
    Configuration,
    EngineName,
    configure,
)
from boolcast.routing.protocol.topology import Topology
from boolcast.simulation.chance import stream
from boolcast.simulation.network.costs import Costs
from boolcast.simulation.network.wires import WireSettings
from boolcast.simulation.scenarios import faults as kinds
from boolcast.simulation.scenarios import topologies
from boolcast.simulation.scenarios.combinations import SOON, combinations
from boolcast.simulation.scenarios.faults import Fault
from boolcast.simulation.scenarios.learning import learnt
from boolcast.simulation.scenarios.scenarios import Load, Scenario, scenario

_PACKET_FAULTS: Final = ("loss", "repetition", "lateness")
_USUAL_COUNT: Final = 3
_USUAL_SHARE: Final = 0.1
_MOST_FAULTS: Final = 10_000
_NO_POLICY: Final = {
    "engine": "use --engine",
    "durable": "brokers are durable if the faults include a crash",
}

Links = tuple[tuple[BrokerId, BrokerId], ...]


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What to run; `engine` is the brokers', the last two are properties of the links."""

    seed: int
    topology: str = "random"
    workload: str = "random"
    policy: str = "random"
    faults: str = "random"
    engine: EngineName = "access"
    load: Load = Load()
    costs: Costs = Costs()
    latency_ms: float = 10.0
    bytes_per_second: float = 0.0


class Drawn(NamedTuple):
    """A plan with nothing left to chance but the packets. `faults` count from the first action.

    `statistics` are for brokers that choose by them and do not count themselves.
    """

    topology: Topology
    left_out: Links
    configuration: Configuration
    scenario: Scenario
    wires: WireSettings
    faults: list[Fault]
    is_direct: bool
    statistics: Statistics | None


def draw(plan: Plan) -> Drawn:
    """Make up what the plan leaves open. Raises an InputError or UsageError for what makes no plan.

    Each draws from its own stream of random numbers: the same seed gives the same topology and
    history to every policy.
    """
    _check_numbers(plan)
    tree = topologies.by_name(plan.topology, stream(plan.seed, "topology"))
    topology = tree.topology
    load = scenario(plan.workload, topology, plan.load, plan.seed, stream(plan.seed, "workload"))
    wires = WireSettings(latency_ms=plan.latency_ms, bytes_per_second=plan.bytes_per_second)
    wires, faults = _faults(plan, topology, load.seconds, wires, stream(plan.seed, "faults"))
    crashes = any(isinstance(fault, kinds.Crash) for fault in faults)
    configuration = _configuration(plan, stream(plan.seed, "policy"), durable=crashes)
    is_direct = wires.is_perfect and not crashes
    statistics = None
    if configuration.policies.needs_selectivities and configuration.engine != "counting":
        actions = list(load.actions)
        requests = [request for _, request in load.beginning]
        statistics = learnt([*requests, *(action.request for action in actions)])
        load = load._replace(actions=iter(actions))
    return Drawn(topology, tree.left_out, configuration, load, wires, faults, is_direct, statistics)


def _check_numbers(plan: Plan) -> None:
    for name in ("latency_ms", "bytes_per_second"):
        if not 0 <= getattr(plan, name) < inf:
            raise UsageError(f"{name} is a number from 0 on, not {getattr(plan, name)}")
    if not 0 < plan.load.interval_ms < inf or plan.load.seconds > kinds.MOST_SECONDS:
        raise UsageError(
            f"{plan.load.publications:,} publications, one every {plan.load.interval_ms:g} ms,"
            f" must fit into {kinds.MOST_SECONDS:,} s of virtual time"
        )


def policies_of(configuration: Configuration) -> tuple[str, ...]:
    """The policies by name, without their parameters."""
    policies = configuration.policies
    return (
        policies.propagation.kind,
        policies.covering.kind,
        policies.covering.advertisements,
        policies.unsubscription.kind,
    )


@cache
def _by_policies(engine: EngineName, *, durable: bool) -> tuple[tuple[Configuration, ...], ...]:
    """All combinations, those of the same policies together."""
    found: dict[tuple[str, ...], list[Configuration]] = {}
    for each in combinations(engine=engine, durable=durable):
        found.setdefault(policies_of(each), []).append(each)
    return tuple(map(tuple, found.values()))


def _configuration(plan: Plan, chance: Random, *, durable: bool) -> Configuration:
    policy, engine = plan.policy, plan.engine
    if policy == "random":
        # Seeds in a row go through all policies; only what these leave open is drawn, or else
        # nearly all would be incremental, which has most to choose from. Half of all rewrite
        # nothing, of which there is one way among many.
        known = _by_policies(engine, durable=durable)
        rewrites = chance.random() < 0.5
        chosen = known[plan.seed % len(known)]
        return chance.choice([each for each in chosen if each.policies.reviews_entries is rewrites])
    settings = {**_settings(policy), "engine": engine, "durable": durable}
    written = configure(settings)
    if (
        plan.workload == "random"
        and written.policies.reviews_entries
        and "reviews.events" not in settings
    ):
        return configure({**settings, **SOON})
    return written


def _settings(policy: str) -> dict[str, object]:
    """The settings of a policy: a preset by its name, or settings by their paths, or both."""
    if policy in PRESETS:
        return {"preset": policy}
    settings: dict[str, object] = {}
    for setting in policy.split(","):
        path, equals, value = setting.partition("=")
        if not equals:
            raise UsageError(
                f"there is no policy {policy!r}: take {', '.join(PRESETS)}, random, or"
                " write it out, such as covering=lazy,unsubscription=packing"
            )
        settings[path.strip()] = value.strip()
    for path, problem in _NO_POLICY.items():
        if path in settings:
            raise UsageError(f"{path} is no policy: {problem}")
    return settings


def _faults(
    plan: Plan, topology: Topology, seconds: float, wires: WireSettings, chance: Random
) -> tuple[WireSettings, list[Fault]]:
    if plan.faults == "none":
        return wires, []
    if plan.faults.endswith(".json"):
        return wires, read_faults(Path(plan.faults), topology)
    if plan.faults == "random":
        wires = _random_wires(chance, plan)
        # Some runs without faults, some with one kind only: bugs hide behind other faults too.
        count = chance.choice((0, 1, 2, 4, 8, 16))
        chosen = chance.sample(kinds.KINDS, chance.randint(1, len(kinds.KINDS)))
        return wires, kinds.draw(chance, topology, chosen, count=count, start=1.0, seconds=seconds)
    found: list[Fault] = []
    shares: dict[str, float] = {}
    for fault in plan.faults.split(","):
        name, _, amount = fault.strip().partition(":")
        try:
            if name in _PACKET_FAULTS:
                shares[name] = float(amount) if amount else _USUAL_SHARE
            elif name in kinds.KINDS:
                count = int(amount) if amount else _USUAL_COUNT
                if not 0 <= count <= _MOST_FAULTS:
                    raise UsageError(f"{name} comes 0 to {_MOST_FAULTS:,} times, not {count}")
                found += kinds.draw(
                    chance, topology, [name], count=count, start=0.0, seconds=seconds
                )
            else:
                known = ", ".join((*kinds.KINDS, *_PACKET_FAULTS))
                raise UsageError(f"there is no fault {name!r}: take none, random, or {known}")
        except ValueError:
            raise UsageError(f"{fault!r} has no number: write {name}:3 or loss:0.1") from None
    for name, share in shares.items():
        if not 0 <= share < 1:
            raise UsageError(f"{name} is a share from 0 to below 1, not {share}")
    wires = msgspec.structs.replace(wires, **shares)
    return wires, sorted(found, key=lambda fault: fault.at)


def _random_wires(chance: Random, plan: Plan) -> WireSettings:
    if chance.random() < 0.3:
        return WireSettings(latency_ms=plan.latency_ms, bytes_per_second=plan.bytes_per_second)
    return WireSettings(
        latency_ms=chance.choice((1.0, 10.0, 100.0)),
        bytes_per_second=chance.choice((0.0, 0.0, 20_000.0)),
        loss=chance.choice((0.0, 0.02, 0.2)),
        repetition=chance.choice((0.0, 0.02, 0.2)),
        lateness=chance.choice((0.0, 0.02, 0.2)),
    )


def read_faults(path: Path, topology: Topology) -> list[Fault]:
    """The faults of a JSON file: `[{"type": "cut", "at": 1, "seconds": 2, "links": [["A", "B"]]}]`.

    Raises FileError, also for brokers and links that the topology lacks.
    """
    try:
        read = msgspec.json.decode(path.read_bytes(), type=list[Fault])
    except OSError as error:
        raise FileError(f"cannot read: {error.strerror}", path=str(path)) from None
    except msgspec.DecodeError as error:
        raise FileError(f"no faults: {error}", path=str(path)) from None
    for fault in read:
        problem = kinds.problem_of(fault, topology)
        if problem is not None:
            raise FileError(problem, path=str(path))
    return read
