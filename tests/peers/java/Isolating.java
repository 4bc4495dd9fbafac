import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Where a reader's world ends: at the high watermark, or under read_committed at the last stable offset. */
final class Isolating {
    static long endOffset(JsonNode command) {
        TopicPartition place = new TopicPartition(command.get("topic").asText(), command.get("partition").asInt());
        ByteArrayDeserializer bytes = new ByteArrayDeserializer();
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(Fields.config(command), bytes, bytes)) {
            return consumer.endOffsets(List.of(place)).get(place);
        }
    }
}
