"""What a node is told: server.properties, settings that change while it runs, and Kafka's that have no effect here."""
