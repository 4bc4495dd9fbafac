"""Groups of the new protocol (KIP-848): the broker assigns, and tells each member for itself."""
