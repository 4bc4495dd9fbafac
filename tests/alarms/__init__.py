"""The shipped rules in a real Prometheus, beside real nodes to which something happens: `python -m alarms`."""
