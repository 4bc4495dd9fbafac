"""The words every other package speaks: ids, errors, settings, effects. Imports nothing of ours."""
