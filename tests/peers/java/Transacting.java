import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** One transactional producer a step at a time, as peers/transactors describes the steps. */
final class Transacting {
    private static final byte[] DONE = "done ".getBytes();
    private static KafkaProducer<byte[], byte[]> producer;
    private static KafkaConsumer<byte[], byte[]> consumer;

    static Object run(JsonNode command) throws Exception {
        String step = command.get("step").asText();
        switch (step) {
            case "open":
                return open(command);
            case "begin":
                producer.beginTransaction();
                return null;
            case "send":
                return send(command);
            case "offsets":
                return offsets(command);
            case "commit":
                producer.commitTransaction();
                return null;
            case "abort":
                producer.abortTransaction();
                return null;
            case "join":
                return join(command);
            case "turn":
                return turn(command);
            default:
                throw new IllegalArgumentException("no such step: " + step);
        }
    }

    private static Object open(JsonNode command) {
        Properties config = Fields.config(command);
        config.put("transactional.id", command.get("id").asText());
        config.put("transaction.timeout.ms", command.get("timeout_ms").asText());
        config.put("reconnect.backoff.max.ms", "200");
        ByteArraySerializer bytes = new ByteArraySerializer();
        producer = new KafkaProducer<>(config, bytes, bytes);
        producer.initTransactions();
        return null;
    }

    /** Offsets of the records where they are waited for; else they go their way, and nothing is told. */
    private static List<Long> send(JsonNode command) throws Exception {
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        for (JsonNode value : command.get("values")) {
            sent.add(send(command.get("topic").asText(), command.get("partition").asInt(), Fields.bytes(value)));
        }
        List<Long> places = new ArrayList<>();
        if (command.get("wait").asBoolean()) {
            for (Future<RecordMetadata> each : sent) {
                places.add(each.get().offset());
            }
        }
        return places;
    }

    private static Future<RecordMetadata> send(String topic, int partition, byte[] value) {
        return producer.send(new ProducerRecord<>(topic, partition, null, value));
    }

    private static Object offsets(JsonNode command) {
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        String topic = command.get("topic").asText();
        command.get("offsets").properties().forEach(e -> {
            TopicPartition place = new TopicPartition(topic, Integer.parseInt(e.getKey()));
            offsets.put(place, new OffsetAndMetadata(e.getValue().asLong()));
        });
        producer.sendOffsetsToTransaction(offsets, new ConsumerGroupMetadata(command.get("group").asText()));
        return null;
    }

    private static Object join(JsonNode command) {
        Properties config = Fields.config(command);
        config.put("group.id", command.get("group").asText());
        config.put("group.instance.id", command.get("instance").asText());
        config.put("enable.auto.commit", "false");
        config.put("auto.offset.reset", "earliest");
        config.put("isolation.level", "read_committed");
        config.put("max.poll.records", command.get("most").asText());
        config.put("reconnect.backoff.max.ms", "200");
        ByteArrayDeserializer bytes = new ByteArrayDeserializer();
        consumer = new KafkaConsumer<>(config, bytes, bytes);
        consumer.subscribe(List.of(command.get("topic").asText()));
        return null;
    }

    private static int turn(JsonNode command) throws Exception {
        ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(command.get("wait_ms").asLong()));
        if (records.isEmpty()) {
            return 0;
        }
        Peer.reached("polled");
        producer.beginTransaction();
        String output = command.get("output").asText();
        for (ConsumerRecord<byte[], byte[]> record : records) {
            send(output, record.partition(), done(record.value()));
        }
        Peer.reached("sent");
        producer.sendOffsetsToTransaction(records.nextOffsets(), consumer.groupMetadata());
        Peer.reached("committing");
        producer.commitTransaction();
        return records.count();
    }

    private static byte[] done(byte[] value) {
        byte[] done = new byte[DONE.length + value.length];
        System.arraycopy(DONE, 0, done, 0, DONE.length);
        System.arraycopy(value, 0, done, DONE.length, value.length);
        return done;
    }
}
