"""The Kafka protocol without a socket: bytes to messages and back.

    frame.py        four bytes of size, then that many bytes
    header.py       which API, which version, which request this is
    apis.py         the table: key -> request and response class, versions
    schema.py       how a message is declared, once for all versions
    messages/       one module an API
    codec.py        the encoder and the decoder of a message in a version, made on first use
    decoders.py, encoders.py, source.py    how they are made: printed as Python, then run
    primitives.py   varints and tagged sections

Read next: schema.py, then messages/produce.py for what a declaration looks like.
"""
