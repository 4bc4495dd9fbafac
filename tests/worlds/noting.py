"""A step whose facts a test can read: what was touched, what was appended, in the order in which it was noted."""

from andiron.broker.node.step import Step
from andiron.broker.node.waiting import WaitingRoom


class NotedStep(Step):
    """Keeps what is noted in it, whether anybody waits for that or not."""

    def __init__(self, now=0):
        super().__init__(WaitingRoom())
        self.now, self.touched, self.written = now, [], []

    def touch(self, key):
        self.touched.append(key)

    def appended(self, partition, written):
        self.written.append((partition, written))
