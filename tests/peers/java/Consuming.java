import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** KafkaConsumer by assign(): no group takes part. */
final class Consuming {
    private static final long PATIENCE_MS = 60_000;

    /** Records of one partition from offset `start` until the position is `end`. */
    static List<Map<String, Object>> consume(JsonNode command) {
        TopicPartition place = new TopicPartition(command.get("topic").asText(), command.get("partition").asInt());
        long end = command.get("end").asLong();
        List<Map<String, Object>> found = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(command)) {
            consumer.assign(List.of(place));
            consumer.seek(place, command.get("start").asLong());
            long until = System.currentTimeMillis() + PATIENCE_MS;
            while (consumer.position(place) < end && System.currentTimeMillis() < until) {
                consumer.poll(Duration.ofMillis(500)).forEach(record -> found.add(fields(record)));
            }
        }
        return found;
    }

    /** All of a topic's partitions at once, until `count` records came: what fetch sessions are for. */
    static Map<String, List<Long>> pollAll(JsonNode command) {
        String topic = command.get("topic").asText();
        int left = command.get("count").asInt();
        Map<String, List<Long>> offsets = new LinkedHashMap<>();
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(command)) {
            List<TopicPartition> places = new ArrayList<>();
            consumer.partitionsFor(topic).forEach(p -> places.add(new TopicPartition(topic, p.partition())));
            consumer.assign(places);
            consumer.seekToBeginning(places);
            long until = System.currentTimeMillis() + PATIENCE_MS;
            while (left > 0 && System.currentTimeMillis() < until) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(500))) {
                    offsets.computeIfAbsent("" + record.partition(), p -> new ArrayList<>()).add(record.offset());
                    left--;
                }
            }
        }
        return offsets;
    }

    private static KafkaConsumer<byte[], byte[]> consumer(JsonNode command) {
        ByteArrayDeserializer bytes = new ByteArrayDeserializer();
        return new KafkaConsumer<>(Fields.config(command), bytes, bytes);
    }

    private static Map<String, Object> fields(ConsumerRecord<byte[], byte[]> record) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("offset", record.offset());
        fields.put("timestamp", record.timestamp());
        fields.put("timestamp_type", record.timestampType().name);
        fields.put("key", Fields.text(record.key()));
        fields.put("value", Fields.text(record.value()));
        fields.put("headers", Fields.pairs(record.headers()));
        return fields;
    }
}
