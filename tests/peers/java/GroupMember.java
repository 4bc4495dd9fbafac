import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.FencedInstanceIdException;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * One member: it polls, processes, commits, and tells what happens to it.
 *
 * <p>A partition is its own from the first line of the assigned callback to the last of the revoked one, as in
 * the members in Python.
 */
final class GroupMember implements Runnable, ConsumerRebalanceListener {
    private static final Duration POLL = Duration.ofMillis(100);
    private static final Map<String, String> ASSIGNORS = Map.of(
            "range", "RangeAssignor",
            "roundrobin", "RoundRobinAssignor",
            "sticky", "StickyAssignor",
            "cooperative-sticky", "CooperativeStickyAssignor");

    private final String name;
    private final JsonNode spec;
    private final BlockingQueue<String> told = new LinkedBlockingQueue<>();
    private final Set<TopicPartition> owned = new HashSet<>();
    private final Map<TopicPartition, OffsetAndMetadata> processed = new HashMap<>(); // and not yet committed
    private KafkaConsumer<byte[], byte[]> consumer;

    GroupMember(String name, JsonNode spec) {
        this.name = name;
        this.spec = spec;
    }

    void told(String command) {
        told.add(command);
    }

    @Override
    public void run() {
        try (KafkaConsumer<byte[], byte[]> made = consumer()) {
            consumer = made;
            subscribe();
            for (boolean leaving = false; !(commit() && leaving); poll()) {
                leaving = leaving || toldToLeave();
            }
            gone("revoked", Set.copyOf(owned));
        } catch (Throwable thrown) {
            error(thrown);
        }
        tell("left", Members.JSON.createObjectNode());
    }

    private boolean toldToLeave() throws InterruptedException {
        String command = told.poll();
        if ("pause".equals(command)) {
            told.take(); // resume
        }
        return "leave".equals(command);
    }

    private void poll() {
        try {
            for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                TopicPartition place = new TopicPartition(record.topic(), record.partition());
                process(place, record);
                processed.put(place, new OffsetAndMetadata(record.offset() + 1));
            }
        } catch (FencedInstanceIdException fenced) {
            throw fenced; // whoever is fenced has no more to say here
        } catch (RuntimeException thrown) {
            error(thrown);
        }
    }

    /** Whether nothing is left; while a rebalance is under way it can fail, and is done another time. */
    private boolean commit() {
        try {
            if (!processed.isEmpty() && !spec.path("auto_commit").asBoolean()) {
                consumer.commitSync(processed);
                committed(processed);
            }
            processed.clear();
            return true;
        } catch (FencedInstanceIdException fenced) {
            throw fenced;
        } catch (RuntimeException thrown) {
            error(thrown);
            return false;
        }
    }

    private void process(TopicPartition place, ConsumerRecord<byte[], byte[]> record) {
        ObjectNode line = Members.JSON.createObjectNode();
        line.putArray("partition").add(place.topic()).add(place.partition());
        line.put("offset", record.offset());
        line.put("value", record.value() == null ? null : new String(record.value(), StandardCharsets.UTF_8));
        tell("record", line);
    }

    private void committed(Map<TopicPartition, OffsetAndMetadata> offsets) {
        ObjectNode line = Members.JSON.createObjectNode();
        ArrayNode rows = line.putArray("offsets");
        offsets.forEach((place, at) -> rows.addArray().add(place.topic()).add(place.partition()).add(at.offset()));
        tell("committed", line);
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> places) {
        tell("assigned", partitions(places));
        owned.addAll(places);
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> places) {
        if (!owned.isEmpty()) { // when closing, all of it was given back before
            commit();
            gone("revoked", places);
        }
    }

    @Override
    public void onPartitionsLost(Collection<TopicPartition> places) {
        gone("lost", places);
    }

    private void gone(String event, Collection<TopicPartition> places) {
        owned.removeAll(places);
        processed.keySet().removeAll(places);
        tell(event, partitions(places));
    }

    private ObjectNode partitions(Collection<TopicPartition> places) {
        ObjectNode line = Members.JSON.createObjectNode();
        ArrayNode rows = line.putArray("partitions");
        places.forEach(place -> rows.addArray().add(place.topic()).add(place.partition()));
        return line;
    }

    private void error(Throwable thrown) {
        ObjectNode line = Members.JSON.createObjectNode();
        line.put("code", Errors.forException(thrown).code());
        line.put("message", thrown.toString());
        tell("error", line);
    }

    private void tell(String event, ObjectNode more) {
        Members.tell(name, event, more);
    }

    /** A pattern is resolved by the broker in the new protocol, and by the client in the classic one. */
    private void subscribe() {
        if (spec.get("topics").size() > 0) {
            consumer.subscribe(Fields.list(spec.get("topics")), this);
        } else if (newProtocol()) {
            consumer.subscribe(new SubscriptionPattern(spec.get("pattern").asText()), this);
        } else {
            consumer.subscribe(Pattern.compile(spec.get("pattern").asText()), this);
        }
    }

    private boolean newProtocol() {
        return spec.get("protocol").asText().equals("consumer");
    }

    private KafkaConsumer<byte[], byte[]> consumer() {
        Properties config = Fields.config(spec);
        config.put("group.id", spec.get("group").asText());
        config.put("auto.offset.reset", spec.get("reset").asText());
        config.put("enable.auto.commit", spec.path("auto_commit").asText("false"));
        config.put("auto.commit.interval.ms", "200");
        config.put("fetch.max.wait.ms", "100");
        config.put("metadata.max.age.ms", "2000");
        if (spec.hasNonNull("instance")) {
            config.put("group.instance.id", spec.get("instance").asText());
        }
        if (spec.hasNonNull("poll_ms")) {
            config.put("max.poll.interval.ms", spec.get("poll_ms").asText());
        }
        String assignor = spec.get("assignor").asText();
        if (newProtocol()) {
            config.put("group.protocol", "consumer");
            config.put("group.remote.assignor", assignor);
        } else {
            config.put("session.timeout.ms", spec.get("session_ms").asText());
            config.put("heartbeat.interval.ms", spec.get("heartbeat_ms").asText());
            List<String> classes = new ArrayList<>();
            for (String each : assignor.split(",")) {
                classes.add("org.apache.kafka.clients.consumer." + ASSIGNORS.get(each));
            }
            config.put("partition.assignment.strategy", classes);
        }
        ByteArrayDeserializer bytes = new ByteArrayDeserializer();
        return new KafkaConsumer<>(config, bytes, bytes);
    }
}
