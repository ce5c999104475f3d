"""Every invariant of a broker's tables, checked from scratch."""

from boolcast.algebra.relations import covers
from boolcast.filters.expressions import Filter
from boolcast.routing.core.state import State
from boolcast.routing.tables.entries import Table
from boolcast.routing.tables.neighbours import Neighbour


def validate(state: State) -> None:
    """Assert that the tables agree with each other and with what neighbours were told."""
    _check_table(state.advertisements)
    _check_table(state.subscriptions)
    assert len(state.engine) == len(state.subscriptions)
    assert state.link_of == {
        entry.id: entry.link for entry in state.subscriptions if entry.link is not None
    }
    _check_rewriting(state)
    _check_mergers(state)
    for neighbour in state.neighbours.values():
        _check_neighbour(state, neighbour)
    for awaited, operations in state.awaited.items():
        assert operations
        assert all(awaited in operation.awaited for operation in operations)
    for operation in state.operations.values():
        assert len(operation.awaited) > 0, "what waits for nobody is done"
        assert all(operation in state.awaited[awaited] for awaited in operation.awaited)


def _check_rewriting(state: State) -> None:
    """Only what came from neighbours is matched or known otherwise, and lets more pass (R1, R3)."""
    for name, rewritten in state.rewriting.rewritten.items():
        assert name in state.link_of, "what a client asked for is matched as it is"
        _check_covers(state, rewritten, state.subscriptions.entries[name].analysed.filter)
    for advertisement, pruned in state.advertisement_rewriting.rewritten.items():
        entry = state.advertisements.entries[advertisement]
        assert entry.link is not None, "events are checked by what a client advertised"
        _check_covers(state, pruned, entry.analysed.filter)
    for entry in state.subscriptions:
        assert entry.sent is entry.analysed or entry.client is not None, "sent on as it came"
        _check_covers(state, entry.sent.filter, entry.analysed.filter)


def _check_mergers(state: State) -> None:
    """A merger covers what it stands for, all of it from one neighbour, none of it told (R5)."""
    _check_table(state.constituents)
    found: list[str] = []
    for merger in state.mergers:
        entry = state.subscriptions.entries[merger.id]
        assert entry.link is not None
        assert len(merger.constituents) > 1
        for name, filter in merger.constituents.items():
            constituent = state.constituents.entries[name]
            assert constituent.link == entry.link
            assert constituent.analysed.filter == filter
            assert name not in state.subscriptions
            _check_covers(state, entry.analysed.filter, filter)
        found += merger.constituents
    assert sorted(found) == sorted(state.constituents.entries)


def _check_covers(state: State, general: Filter, specific: Filter) -> None:
    """Law 4. A refuted covering has a witness; what cannot be proven in time has none."""
    if general != specific and not state.analyser.covers(
        state.analyser.analyse(general), state.analyser.analyse(specific)
    ):
        assert covers(general, specific).witness is None, f"{general} does not cover {specific}"


def _check_table(table: Table) -> None:
    by_link = [entry for entries in table.by_link.values() for entry in entries.values()]
    by_client = [entry for entries in table.by_client.values() for entry in entries.values()]
    assert sorted(entry.id for entry in by_link + by_client) == sorted(table.entries)
    orders = [entry.order for entry in table]
    assert orders == sorted(set(orders)), "entries stand in the order of their coming"
    for entry in table:
        assert (entry.link is None) is not (entry.client is None)


def _check_neighbour(state: State, neighbour: Neighbour) -> None:
    told = neighbour.subscriptions
    ghosts = neighbour.ghosts()
    if not neighbour.is_open:
        assert not len(told)
        assert not len(neighbour.advertisements)
    else:
        _check_told(state, neighbour)
        if state.propagation.sends_advertisements:
            passed_on = [entry.id for entry in state.advertisements if entry.link != neighbour.link]
            assert sorted(neighbour.advertisements) == sorted(passed_on)
    assert sorted(told.forwarded()) == sorted(neighbour.forwarded)
    assert sorted(neighbour.advertisements.forwarded()) == sorted(
        neighbour.forwarded_advertisements
    )
    for name, number in neighbour.unacknowledged.items():
        assert name in neighbour.forwarded_advertisements
        assert (neighbour.link, number) in state.awaited
    for name in ghosts:
        assert name not in state.subscriptions, "a ghost is asked for by nobody"
        if state.configuration.policies.unsubscription.collects_ghosts:
            assert told.quenches(name), "a ghost that quenches nothing is let go"
    for name in told:
        above = told.above(name)
        analysed = state.told_filter(neighbour, name)
        if above is not None:
            general = state.told_filter(neighbour, above)
            # Exact forms are compared completely; a proof of others may have gone through one
            # that is no longer there.
            if general.is_exact and analysed.is_exact:
                assert state.analyser.covers(general, analysed)
        if name in neighbour.forwarded:
            assert neighbour.forwarded[name].analysed is analysed, "what was sent is what holds"


def _check_told(state: State, neighbour: Neighbour) -> None:
    """P4-B2: a neighbour must know a subscription from elsewhere that overlaps an advertisement
    from there. A ghost stays as long as that is true of it.

    Where an advertisement is pruned, what overlaps only by that may be known there and need not
    (P3-B9); what overlaps the advertisements as they came is known.
    """
    link = neighbour.link
    told = set(neighbour.subscriptions).difference(neighbour.ghosts())
    elsewhere = [entry for entry in state.subscriptions if entry.link != link]
    needed = [each.id for each in elsewhere if state.propagation.is_needed(each.analysed, link)]
    advertisements = state.advertisements.of_link(link)
    if all(state.held(each) is each.analysed for each in advertisements):
        assert told == set(needed)
        return
    assert told <= set(needed)
    for entry in elsewhere:
        if entry.id not in told:
            assert not any(
                state.analyser.overlaps(each.analysed, entry.analysed) for each in advertisements
            )
