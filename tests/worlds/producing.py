"""What a producer sends: a batch, and the numbers of an idempotent one."""

from andiron.records.builder import build
from andiron.records.record import Record


def batch(node, *values, key=None, **how):
    return build([Record(0, node.now, key, value) for value in values], **how)


def sequence(first, producer_id=7, epoch=0):
    return {"producer_id": producer_id, "producer_epoch": epoch, "base_sequence": first}
