"""The group coordinator: classic and consumer groups, their members and assignments, and their committed offsets."""
