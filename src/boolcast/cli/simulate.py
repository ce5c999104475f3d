"""`boolcast simulate`: run a network of brokers in virtual time."""

import re
from typing import Annotated, cast, get_args

import typer

from boolcast.cli.input.options import AsJson
from boolcast.cli.output.endings import ExitCode
from boolcast.cli.output.extras import check_matplotlib
from boolcast.errors import UsageError
from boolcast.routing.protocol.configuration import EngineName


def simulate(  # noqa: PLR0913, PLR0917 - an option each
    topology: Annotated[
        str,
        typer.Option(
            "--topology",
            "-t",
            metavar="NAME",
            help="Network: a name from above, or a .json file.",
        ),
    ] = "random",
    workload: Annotated[
        str,
        typer.Option(
            "--workload", "-w", metavar="NAME", help="Subscriptions and events: a name from above."
        ),
    ] = "random",
    policy: Annotated[
        str,
        typer.Option(
            "--policy",
            "-p",
            metavar="NAME",
            help="Routing policy: a name from above, or its settings.",
        ),
    ] = "random",
    engine: Annotated[
        str,
        typer.Option(
            "--engine",
            "-e",
            metavar="NAME",
            help="Match engine: access, scan, counting or mbd.",
        ),
    ] = "access",
    faults: Annotated[
        str,
        typer.Option(
            "--faults",
            "-f",
            metavar="LIST",
            help="Faults: names from above, or a .json file.",
        ),
    ] = "random",
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of everything random.")] = 1,
    seeds: Annotated[
        str | None,
        typer.Option(metavar="A..B", help="Seeds to run, up to the first that fails."),
    ] = None,
    subscriptions: Annotated[
        int, typer.Option(metavar="N", min=1, help="Subscriptions; not for the random workload.")
    ] = 400,
    publications: Annotated[
        int, typer.Option(metavar="N", min=1, help="Publications, one every --interval-ms.")
    ] = 2_000,
    unsubscriptions: Annotated[
        int, typer.Option(metavar="N", min=0, help="Unsubscriptions, halfway through.")
    ] = 4,
    interval_ms: Annotated[
        float, typer.Option(metavar="MS", min=0.001, help="Time between two publications.")
    ] = 10.0,
    latency_ms: Annotated[
        float, typer.Option(metavar="MS", min=0.0, help="Latency of a link.")
    ] = 10.0,
    bytes_per_second: Annotated[
        float, typer.Option(metavar="N", min=0.0, help="Bandwidth of a link; 0 is unlimited.")
    ] = 0.0,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FOLDER", help="Folder for the metrics, as Parquet."
        ),
    ] = None,
    plot: Annotated[
        str | None, typer.Option("--plot", metavar="FILE", help="Picture to draw, such as a PNG.")
    ] = None,
    cores: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Cores for --seeds; all by default.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run brokers in virtual time and check all deliveries.

    An independent checker decides whether every event reached every settled subscription once
    and in order. The same seed and options give the same run, down to the hash of its trace.

    \b
    Topologies:  line:5 star:8 tree:3x2 random:12 random paper tiered
    Workloads:   random groups auction diverse pairs
    Policies:    flood none active lazy packing incremental incremental-packing pruning
                 replacement pre-pruning merging perfect-merging imperfect-merging
                 advertisement-pruning random, or covering=lazy,unsubscription=packing
    Engines:     access scan counting mbd (decision diagrams)
    Faults:      none random, or a list of cut:3 partition slow clog crash pause loss:0.1
                 repetition lateness amnesia (a crash that loses the disk)

    --output writes metrics over virtual time:

    \b
      FOLDER/brokers.parquet   time, broker, queue, longest_queue, subscriptions,
                               advertisements, forwarded, triggered, handled, pruned, merged,
                               pruned_from_advertisements, overlaps_asked, overlaps_found,
                               overlaps_checked, overlaps_refuted
      FOLDER/links.parquet     time, sender, receiver, events, messages, packets, bytes
      FOLDER/delays.parquet    time and delay of each delivery, in seconds

    --plot needs pip install 'boolcast[report]'.

    \b
    Examples:
      boolcast simulate --seeds 1..1000
      boolcast simulate --seed 17
      boolcast simulate -t paper -w groups -p incremental -f none --output metrics
      boolcast simulate -t line:5 -p active -f crash:2,loss:0.05 --json

    \b
    Exit codes:
      0  all expected deliveries arrived, and no others
      1  a delivery was missing or wrong
      2  the usage is wrong, or a file cannot be read
    """  # noqa: D301 - \b keeps the lines of a paragraph apart
    if plot is not None:
        check_matplotlib()
    from boolcast.cli import simulate_report  # noqa: PLC0415 - numba and rich
    from boolcast.simulation.scenarios.plans import Plan  # noqa: PLC0415 - as above
    from boolcast.simulation.scenarios.scenarios import Load  # noqa: PLC0415 - as above

    plan = Plan(
        seed=seed,
        topology=topology,
        workload=workload,
        policy=policy,
        engine=_engine(engine),
        faults=faults,
        load=Load(
            subscriptions=subscriptions,
            publications=publications,
            unsubscriptions=unsubscriptions,
            interval_ms=interval_ms,
        ),
        latency_ms=latency_ms,
        bytes_per_second=bytes_per_second,
    )
    if seeds is None:
        is_right = simulate_report.show(plan, output=output, plot=plot, as_json=as_json)
    else:
        if output is not None or plot is not None:
            raise UsageError("--output and --plot show one run: give --seed rather than --seeds")
        is_right = simulate_report.show_many(plan, _range(seeds), cores=cores, as_json=as_json)
    raise typer.Exit(ExitCode.FINE if is_right else ExitCode.RESERVATIONS)


def _engine(name: str) -> EngineName:
    if name not in get_args(EngineName):
        raise UsageError(f"there is no engine {name!r}: take {', '.join(get_args(EngineName))}")
    return cast("EngineName", name)


def _range(text: str) -> range:
    found = re.fullmatch(r"(-?\d+)\.\.(-?\d+)", text)
    if found is None or int(found[1]) > int(found[2]):
        raise UsageError(f"--seeds takes a first and a last one, such as 1..1000, not {text!r}")
    return range(int(found[1]), int(found[2]) + 1)
