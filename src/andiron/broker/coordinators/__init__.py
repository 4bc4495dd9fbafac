"""The group and transaction coordinators: a machine for each partition of their topics that is led here."""
