"""The changes to partitions that one decision makes.

Each is settled (transition.py) by the rules of its topic and by who may lead, and becomes a record. Whoever
asks for a partition again within the decision sees it as changed: a request may name one twice.

Read next: elections.py.
"""

from __future__ import annotations

from andiron.controller.image import PartitionImage, TopicImage
from andiron.controller.records import MetadataRecord
from andiron.controller.settings import ControllerSettings
from andiron.controller.standing import Standing
from andiron.controller.transition import Election, Rules, change, settled
from andiron.model.ids import NodeId


class PartitionChanges:
    """Partitions as one decision leaves them, and the records that bring it about."""

    def __init__(self, standing: Standing, settings: ControllerSettings) -> None:
        self.records: list[MetadataRecord] = []
        self._standing, self._settings = standing, settings
        self._rules: dict[bytes, Rules] = {}
        self._states: dict[tuple[bytes, int], PartitionImage] = {}

    def state(self, topic: TopicImage, number: int) -> PartitionImage:
        """A partition as it is by now."""
        return self._states.get((topic.id, number)) or topic.partitions[number]

    def settle(
        self,
        topic: TopicImage,
        number: int,
        wanted: PartitionImage,
        election: Election = Election.ONLINE,
        lost: NodeId | None = None,
    ) -> PartitionImage:
        """Bring a partition as near to what is wanted as it may be; returns what it is then."""
        old = self.state(topic, number)
        new = settled(old, wanted, self._standing.may_lead, self._rules_of(topic), election, lost)
        record = change(topic.id, number, old, new)
        if record is not None:
            self._states[topic.id, number] = new
            self.records.append(record)
        return new

    def _rules_of(self, topic: TopicImage) -> Rules:
        rules = self._rules.get(topic.id)
        if rules is None:
            rules = self._rules[topic.id] = Rules.of(topic.name, self._standing.image, self._settings)
        return rules
