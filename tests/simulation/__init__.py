"""The simulator at work: seeds that failed once, fresh ones, and bugs planted to be found."""
