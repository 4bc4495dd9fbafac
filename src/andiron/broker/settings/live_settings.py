"""A broker's own settings, with what was set while it runs.

    server.properties ◀ set for all brokers ◀ set for this one        the rightmost that has a value counts

They are put together when somebody asks and kept until the metadata says that one of them has changed.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from andiron.broker.metadata.metadata_loader import MetadataLoader
from andiron.broker.settings.broker_settings import BrokerSettings
from andiron.broker.settings.node_settings import NodeSettings, broker_settings
from andiron.controller.image import BROKER
from andiron.controller.settings import MIN_INSYNC
from andiron.model.layers import Layers
from andiron.model.line import Line

log = logging.getLogger(__name__)


class LiveSettings:
    """The settings that hold for this broker now: its file, and what was set while it runs."""

    def __init__(self, settings: NodeSettings, metadata: MetadataLoader) -> None:
        self._settings, self._metadata = settings, metadata
        self._current: BrokerSettings | None = None

    def current(self) -> BrokerSettings:
        """The settings as they are now."""
        if self._current is None:
            everywhere, here = self._set_while_running()
            self._current = broker_settings(here, everywhere, self._settings)
        return self._current

    def layers(self) -> Layers:
        """Where each of them comes from."""
        return self._settings.layers(*self._set_while_running())

    def warn_of_the_overruled(self) -> None:
        """Say which settings of the file have no effect, since the cluster was founded with, or given, another value.
        Of all that can be set for a cluster only this one is, without anybody's asking (controller/features.py)."""
        given, whole = self._settings.given.get(MIN_INSYNC), self._metadata.image.configs_of(BROKER, "")
        if given is not None and whole.get(MIN_INSYNC, given) != given:
            log.warning(Line(
                "Setting {setting} of the file has no effect, the cluster has another; see `andiron config set`",
                setting=MIN_INSYNC, value=given, cluster_value=whole[MIN_INSYNC],
            ))  # fmt: skip

    def forget(self) -> None:
        """Drop the settings that were put together: the metadata says that some have changed."""
        self._current = None

    def _set_while_running(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """What was set for all brokers, and for this one."""
        image = self._metadata.image
        return image.configs_of(BROKER, ""), image.configs_of(BROKER, str(self._settings.node_id))
