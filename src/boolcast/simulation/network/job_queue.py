"""The queue of a broker's process: one job after the other, each in its time.

A job is done when the process turns to it, takes the time that its costs say, and becomes visible
outside at the end of that time.
"""

from collections import deque
from collections.abc import Callable

from boolcast.model.identifiers import BrokerId
from boolcast.routing.protocol.links import Arrived
from boolcast.routing.protocol.packets import Data
from boolcast.simulation.network.broker_process import BrokerProcess, Disk, Job, LinkJob, Step
from boolcast.simulation.network.costs import Tariff
from boolcast.simulation.network.timeline import Timeline


class JobQueue:
    """A broker at work; `commit(queue, job, step)` is called when a job is done."""

    def __init__(
        self,
        name: BrokerId,
        process: BrokerProcess,
        tariff: Tariff,
        timeline: Timeline,
        commit: Callable[["JobQueue", Job, Step], None],
    ) -> None:
        self.name = name
        self.process = process
        self.disk = Disk()
        self.epoch = 1
        self.incarnation = 1
        """Counts the starts, whether or not it still knew anything."""
        self.is_up = True
        self.is_paused = False
        self.inbox: deque[Job] = deque()
        self.current: tuple[Job, Step] | None = None
        self._is_busy = False
        self._jobs = self._longest = 0
        """How many jobs wait or are in hand, those that only concern a link left out."""
        self.tariff = tariff
        self._timeline = timeline
        self._commit = commit

    def put(self, job: Job) -> None:
        """Let a job wait for its turn; there is nobody to do it while the process is down."""
        if self.is_up:
            self.inbox.append(job)
            self._jobs += type(job) is not LinkJob or _is_for_broker(job)
            self._longest = max(self._longest, self._jobs)
            if not self._is_busy and not self.is_paused:
                self._work()

    def _work(self) -> None:
        """Do jobs until one takes time."""
        self._is_busy = True
        now = self._timeline.now
        inbox = self.inbox
        while inbox and not self.is_paused:
            job = inbox.popleft()
            table = self.process.broker.state.subscriptions
            before = len(table)
            step = self.process.step(job, now)
            entries = len(table)
            seconds = self.tariff.seconds(step.work, step.matched, entries, before - entries)
            if seconds:
                self.current = (job, step)
                self._timeline.at(now + seconds, self._finish, self.incarnation)
                return
            self._jobs -= type(job) is not LinkJob or _is_for_broker(job)
            self._commit(self, job, step)
        self._is_busy = False

    def _finish(self, incarnation: int) -> None:
        if incarnation != self.incarnation:
            return
        assert self.current is not None
        job, step = self.current
        self.current = None
        self._jobs -= type(job) is not LinkJob or _is_for_broker(job)
        self._commit(self, job, step)
        self._work()

    def pause(self) -> None:
        """Finish the job in hand, and do no other."""
        self.is_paused = True

    def resume(self) -> None:
        """Go on."""
        self.is_paused = False
        if self.is_up and not self._is_busy:
            self._work()

    def stop(self) -> list[Job]:
        """Crash. Returns the jobs that were not done, the one in hand first."""
        undone = [] if self.current is None else [self.current[0]]
        undone += self.inbox
        self.is_up = self.is_paused = self._is_busy = False
        self.current = None
        self._jobs = 0
        self.inbox.clear()
        self.incarnation += 1
        return undone

    def start(self, process: BrokerProcess) -> None:
        """Begin again, after a crash or for the first time."""
        self.process = process
        self.is_up = True
        for job in process.beginning():
            self.put(job)

    @property
    def length(self) -> int:
        """How many jobs wait or are in hand; what only concerns a link does not count."""
        return self._jobs

    def restart_longest(self) -> int:
        """The longest queue since this was asked last."""
        longest, self._longest = self._longest, self._jobs
        return longest


def _is_for_broker(job: LinkJob) -> bool:
    return type(job.stimulus) is Arrived and type(job.stimulus.packet) is Data
