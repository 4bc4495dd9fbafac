"""Groups of the classic protocol: members agree among themselves who reads what."""
