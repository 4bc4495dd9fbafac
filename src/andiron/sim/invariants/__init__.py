"""What must hold after every step, a class each.

growth.py      a log only grows, by what was sent, each sequence once and in turn
survival.py    what was promised survives a stop, a kill, a power loss
acks.py        what is acknowledged stands in the log; what is in turn is taken
offsets.py     start ≤ last stable ≤ watermark ≤ end; watermarks go forward; nothing beyond the end is clean
retention.py   records go when they may
compaction.py  the latest of each key stays
reading.py     readers are shown the log, all of it and nothing else
lookups.py     lookups agree with a scan
metadata.py    acknowledged topics and settings are kept; ids are given once
tickets.py     every request is answered once, in turn, in time
memory.py      what a node keeps in mind grows with what there is

of several nodes:

agreement.py   replicas agree on what is committed, and a leader has all of it
promises.py    what was acknowledged with acks=all can be read from every later leader
in_sync.py     what is committed was on all that are in sync; eligibility.py: who may lead has all of it
leadership.py  an epoch has one leader; votes.py: a voter votes once in it; silence.py: and when it asks for votes
fencing.py     who names an epoch is answered in it
metadata_log.py  committed metadata is the same everywhere; quorum_disks.py: and on most disks
moves.py       partitions that are moved arrive, and replicas go when they are told to
convergence.py   in the end all replicas are in sync, and all logs equal

and of coordinators:

excuse.py      what a power loss may cost
isolation.py   readers of committed records are shown what counts
markers.py     markers follow decisions
atomicity.py   a transaction is all or nothing, and none hangs
ownership.py   a partition has one owner
progress.py    committed offsets do not go back
coordination.py  what they say is committed
replaying.py   the state of a coordinator is the replay of its log
"""

from __future__ import annotations

from andiron.sim.canon import Canons
from andiron.sim.catalog import Catalog
from andiron.sim.invariants.acks import AcksHold
from andiron.sim.invariants.agreement import ReplicasAgree
from andiron.sim.invariants.atomicity import TransactionsAreAtomic
from andiron.sim.invariants.compaction import LatestStays
from andiron.sim.invariants.convergence import ReplicasConverge
from andiron.sim.invariants.coordination import CoordinatorsWait
from andiron.sim.invariants.eligibility import EligibleHaveAll
from andiron.sim.invariants.excuse import Excuse
from andiron.sim.invariants.fencing import EpochsAreFenced
from andiron.sim.invariants.growth import LogsGrow
from andiron.sim.invariants.in_sync import CommittedIsInSync
from andiron.sim.invariants.isolation import ReadersAreIsolated
from andiron.sim.invariants.leadership import EpochsHaveOneLeader
from andiron.sim.invariants.lookups import LookupsAgree
from andiron.sim.invariants.markers import MarkersFollowDecisions
from andiron.sim.invariants.memory import MemoryFollowsState
from andiron.sim.invariants.metadata import MetadataIsKept
from andiron.sim.invariants.metadata_log import MetadataAgrees
from andiron.sim.invariants.moves import ReplicasMove
from andiron.sim.invariants.offsets import OffsetsInOrder
from andiron.sim.invariants.ownership import PartitionsHaveOneOwner
from andiron.sim.invariants.patience import TransactionsHaveTheirTime
from andiron.sim.invariants.progress import OffsetsGoForward
from andiron.sim.invariants.promises import AckedStays
from andiron.sim.invariants.quorum_disks import MetadataIsOnMostDisks
from andiron.sim.invariants.reading import ReadersSeeTheLog
from andiron.sim.invariants.replaying import LogsAreTheState
from andiron.sim.invariants.retention import DeletionIsDue
from andiron.sim.invariants.service import InSyncAreInService
from andiron.sim.invariants.silence import SilenceIsHeard
from andiron.sim.invariants.steps import StepsAreShort
from andiron.sim.invariants.survival import PromisesSurvive
from andiron.sim.invariants.tickets import EveryoneIsAnswered
from andiron.sim.invariants.votes import VotersVoteOnce
from andiron.sim.journal import Journal
from andiron.sim.ledger import Ledger
from andiron.sim.mirror import Mirrors
from andiron.sim.newest import Newest
from andiron.sim.shared_catalog import SharedCatalog
from andiron.sim.watcher import Watcher


def all_invariants(
    mirrors: Mirrors, ledger: Ledger, journal: Journal, checkpoint_ms: int, *, durable: bool, nodes: int = 1
) -> list[Watcher]:
    """Every one of them; the mirrors are brought up to date before the others look into them.

    `durable`: whatever coordinators write to is synced before they say so.
    """
    canons = Canons() if nodes > 1 else None
    newest, growth = Newest(), LogsGrow(mirrors, ledger, canons)
    excuse = Excuse(mirrors, newest, canons, durable=durable)
    among_nodes: list[Watcher] = []
    if canons is not None:
        among_nodes = [
            EpochsHaveOneLeader(),
            EpochsAreFenced(),
            VotersVoteOnce(),
            SilenceIsHeard(),
            MetadataAgrees(),
            MetadataIsOnMostDisks(),
            ReplicasAgree(mirrors, canons, newest),
            CommittedIsInSync(newest),
            EligibleHaveAll(mirrors, canons, newest),
            InSyncAreInService(newest),
            AckedStays(mirrors, canons, newest),
            ReplicasConverge(mirrors),
            ReplicasMove(mirrors, newest),
            StepsAreShort(),
        ]
    return [
        newest,
        excuse,
        PromisesSurvive(mirrors, growth, canons),
        growth,
        OffsetsInOrder(),
        DeletionIsDue(mirrors, checkpoint_ms),
        LatestStays(mirrors),
        AcksHold(mirrors, excuse),
        ReadersSeeTheLog(mirrors),
        LookupsAgree(mirrors),
        MetadataIsKept(Catalog() if nodes == 1 else SharedCatalog(), is_alone=nodes == 1),
        EveryoneIsAnswered(),
        ReadersAreIsolated(mirrors),
        MarkersFollowDecisions(mirrors, excuse, canons),
        TransactionsAreAtomic(mirrors, ledger, journal, excuse, canons),
        PartitionsHaveOneOwner(excuse),
        OffsetsGoForward(excuse),
        TransactionsHaveTheirTime(),
        CoordinatorsWait(),
        LogsAreTheState(),
        MemoryFollowsState(),
        *among_nodes,
    ]
