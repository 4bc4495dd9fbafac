"""Every message in its newest version, against bytes that Kafka wrote."""

from andiron.wire.apis import APIS
from andiron.wire.codec import decoder, encode_message
from golden.samples import Sample, built, each, load

SAMPLES = load("messages.json")
MESSAGES = {cls.__name__: cls for api in APIS.values() for cls in (api.request, api.response)}


@each(SAMPLES)
def test_a_message_is_written_as_kafka_writes_it(sample: Sample):
    message = built(MESSAGES[sample.message], sample.fields)

    assert encode_message(message, sample.version) == sample.bytes


@each(SAMPLES)
def test_what_kafka_wrote_is_read_to_its_last_byte(sample: Sample):
    cls = MESSAGES[sample.message]

    message, end = decoder(cls, sample.version)(sample.bytes, 0, len(sample.bytes))

    assert message == built(cls, sample.fields)
    assert end == len(sample.bytes)


def test_the_newest_version_of_every_message_has_a_sample():
    newest = {(name, cls.__versions__[1]) for name, cls in MESSAGES.items()}

    assert {(sample.message, sample.version) for sample in SAMPLES} == newest
