"""The lines that `andiron up` ends with: how clients reach the node or cluster that was just started."""

from __future__ import annotations

import click

from andiron.broker.settings.listeners import EVERYWHERE, bracketed

DEFAULT_HOST, DEFAULT_PORT = "localhost", 9092

HOW_TO_TALK = """\
  kcat       kcat -b {address} -L
  Python     from confluent_kafka import Producer; p = Producer({{"bootstrap.servers": "{address}"}})
  andiron    echo hello | andiron produce {option}greetings && andiron consume {option}greetings"""


def say_how_to_talk(address: str, *others: str) -> None:
    """Print commands that talk to a node, or to a cluster by all of its addresses."""
    option = "" if address == f"{DEFAULT_HOST}:{DEFAULT_PORT}" else f"-b {address} "
    click.echo(HOW_TO_TALK.format(address=",".join((address, *others)), option=option))
    click.echo("\nCtrl-C stops it.")


def listening(host: str) -> str:
    """A host as it stands in a listener: nothing for every address there is."""
    return "" if host in (*EVERYWHERE, "*") else bracketed(host)
