"""The transaction coordinator (KIP-98): transactional ids, their producers, and how their transactions end."""
