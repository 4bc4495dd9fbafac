"""The messages, one module an API: the request, the response and the structs within them.

Each module declares with the makers of `wire/schema.py` and does nothing else. A class holds
the fields of every version; the fields stand in the order in which they go over the wire.
`wire/apis.py` is the table that leads from a key to its module.
"""
