"""RE2's regular expressions, which Kafka's brokers understand: matched in linear time, whatever the pattern."""
