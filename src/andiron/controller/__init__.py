"""The cluster's metadata: the records that hold it, and the machine that decides and replays them."""
