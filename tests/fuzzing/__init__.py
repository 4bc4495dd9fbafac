"""A hostile client: requests of every API and version that keep to the structure of the schemas, and no other rule."""
