"""How fast networks of brokers are simulated: messages per second on one core, and set-up time.

python -m benchmarks.simulation_speed [--publications 20000] [--subscriptions 80000] [--repeats 3]

Figures are processor time, the best of the repeats. Messages are those of brokers, without the
packets and receipts of the link protocol. The same load (40 brokers, 2,000 subscriptions, no
covering) runs in five ways: on perfect wires; with metrics; as `boolcast simulate` does, with
checker, trace and metrics; with a separate engine for each broker; and with the link protocol.
Then the network of P4-X1 with 49 brokers is set up with active covering; `--subscriptions 0` skips
that.
"""

import argparse
import gc
from time import process_time
from typing import Any

from boolcast.simulation.judging.checker import Checker
from boolcast.simulation.judging.metrics import Metrics
from boolcast.simulation.judging.traces import Trace
from boolcast.simulation.network.observation import Observer
from boolcast.simulation.network.simulator import Simulation
from boolcast.simulation.scenarios.plans import Drawn, Plan, draw
from boolcast.simulation.scenarios.scenarios import Load

WARM_UP = 1_000


def drawn_for(topology: str, policy: str, load: Load) -> Drawn:
    plan = Plan(
        seed=1, topology=topology, workload="groups", policy=policy, faults="none", load=load
    )
    return draw(plan)


def simulation_of(
    drawn: Drawn, *, metrics: bool = False, checks: bool = False, **settings: Any
) -> Simulation:
    observers: list[Observer] = [Checker(), Trace()] if checks else []
    if metrics:
        observers.append(Metrics(drawn.topology))
    return Simulation(drawn.topology, drawn.configuration, observers=observers, **settings)


def messages_a_second(publications: int, **settings: bool) -> float:
    load = Load(
        subscriptions=2_000,
        publications=WARM_UP + publications,
        unsubscriptions=0,
        interval_ms=4.0,
    )
    drawn = drawn_for("tree:3x3", "none", load)
    simulation = simulation_of(drawn, **settings)
    assert simulation.set_up(drawn.scenario.beginning)
    start = simulation.now
    for action in drawn.scenario.actions:
        simulation.timeline.at(
            start + action.at, lambda each: simulation.request(*each[1:]), action
        )
    simulation.timeline.run(start + WARM_UP * load.interval_ms / 1_000)
    before, begun = simulation.messages, process_time()
    simulation.timeline.run(start + load.seconds + 60.0)
    return (simulation.messages - before) / (process_time() - begun)


def set_up(subscriptions: int) -> tuple[float, int]:
    """Seconds and messages until all brokers know the subscriptions that they need."""
    load = Load(subscriptions=subscriptions, publications=1, groups=38, matching=42.0)
    drawn = drawn_for("paper", "active", load)
    simulation = simulation_of(drawn, is_direct=True)
    begun = process_time()
    assert simulation.set_up(drawn.scenario.beginning)
    return process_time() - begun, simulation.messages


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--publications", type=int, default=20_000)
    parser.add_argument("--subscriptions", type=int, default=80_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    gc.freeze()
    for name, settings in {
        "perfect wires": {"is_direct": True},
        "perfect wires, with metrics": {"is_direct": True, "metrics": True},
        "as boolcast simulate": {"is_direct": True, "metrics": True, "checks": True},
        "perfect wires, an engine each": {"is_direct": True, "shares_matching": False},
        "link protocol": {},
    }.items():
        speed = max(
            messages_a_second(options.publications, **settings) for _ in range(options.repeats)
        )
        print(f"{name:<32}{speed:>10,.0f} messages/s")
    count = options.subscriptions
    if not count:
        return
    seconds, messages = set_up(count)
    print(f"{count:,} subscriptions set up in {seconds:,.1f} s, {messages:,} messages")


if __name__ == "__main__":
    main()
