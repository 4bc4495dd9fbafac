import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** KafkaProducer with its defaults (idempotence on), and what the command's config changes of them. */
final class Producing {
    /** Send every record, wait for all; answer with the offset and timestamp of each. */
    static List<long[]> produce(JsonNode command) throws Exception {
        String topic = command.get("topic").asText();
        ByteArraySerializer bytes = new ByteArraySerializer();
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(Fields.config(command), bytes, bytes)) {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (JsonNode record : command.get("records")) {
                sent.add(producer.send(record(topic, record)));
            }
            producer.flush();
            List<long[]> places = new ArrayList<>();
            for (Future<RecordMetadata> each : sent) {
                RecordMetadata place = each.get();
                places.add(new long[] {place.hasOffset() ? place.offset() : -1, place.timestamp()});
            }
            return places;
        }
    }

    /** Send every record, in one batch if the config lets them; answer with the error of each, by its class, or null. */
    static List<String> produceEach(JsonNode command) throws Exception {
        String topic = command.get("topic").asText();
        ByteArraySerializer bytes = new ByteArraySerializer();
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(Fields.config(command), bytes, bytes)) {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (JsonNode record : command.get("records")) {
                sent.add(producer.send(record(topic, record)));
            }
            producer.flush();
            List<String> errors = new ArrayList<>();
            for (Future<RecordMetadata> each : sent) {
                try {
                    each.get();
                    errors.add(null);
                } catch (ExecutionException refused) {
                    errors.add(refused.getCause().getClass().getSimpleName());
                }
            }
            return errors;
        }
    }

    private static ProducerRecord<byte[], byte[]> record(String topic, JsonNode record) {
        Integer partition = record.get("partition").isNull() ? null : record.get("partition").asInt();
        Long timestamp = record.get("timestamp").isNull() ? null : record.get("timestamp").asLong();
        return new ProducerRecord<>(
                topic,
                partition,
                timestamp,
                Fields.bytes(record.get("key")),
                Fields.bytes(record.get("value")),
                Fields.headers(record.get("headers")));
    }
}
