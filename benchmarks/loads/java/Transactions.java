import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Transactions by Kafka's Java client, one after the other.
 *
 * <pre>
 *   java … Transactions bootstrap topic records partitions offsets seconds   →   {"transactions": …, "of_all": …, "seconds": …}
 * </pre>
 *
 * The first seconds are for the virtual machine to get warm, and count only among all.
 */
public final class Transactions {
    private static final byte[] VALUE = new byte[100];
    private static final double WARM_UP_S = 2.0;

    private final KafkaProducer<byte[], byte[]> producer;
    private final String topic;
    private final int records;
    private final int partitions;
    private final ConsumerGroupMetadata group;

    private Transactions(String[] arguments) {
        topic = arguments[1];
        records = Integer.parseInt(arguments[2]);
        partitions = Integer.parseInt(arguments[3]);
        group = Boolean.parseBoolean(arguments[4]) ? group(arguments[0], topic + "-group") : null;
        Properties config = new Properties();
        config.put("bootstrap.servers", arguments[0]);
        config.put("transactional.id", topic + "-writer");
        producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
    }

    /** The identity of one who commits for a group without being a member of it. */
    private static ConsumerGroupMetadata group(String bootstrap, String name) {
        Map<String, Object> config = Map.of("bootstrap.servers", bootstrap, "group.id", name);
        ByteArrayDeserializer bytes = new ByteArrayDeserializer();
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(config, bytes, bytes)) {
            return consumer.groupMetadata();
        }
    }

    public static void main(String[] arguments) {
        Transactions load = new Transactions(arguments);
        load.producer.initTransactions();
        int before = load.during(WARM_UP_S);
        long began = System.nanoTime();
        int done = load.during(Double.parseDouble(arguments[5]));
        double elapsed = (System.nanoTime() - began) / 1e9;
        load.producer.close();
        String answer = "{\"transactions\": %d, \"of_all\": %d, \"seconds\": %.6f}%n";
        System.out.printf(Locale.ROOT, answer, done, before + done, elapsed);
    }

    private int during(double seconds) {
        long until = System.nanoTime() + (long) (seconds * 1e9);
        int done = 0;
        for (; System.nanoTime() < until; done++) {
            transaction(done);
        }
        return done;
    }

    private void transaction(int number) {
        producer.beginTransaction();
        for (int record = 0; record < records; record++) {
            producer.send(new ProducerRecord<>(topic, record % partitions, null, VALUE));
        }
        if (group != null) {
            TopicPartition place = new TopicPartition(topic, 0);
            producer.sendOffsetsToTransaction(Map.of(place, new OffsetAndMetadata(number)), group);
        }
        producer.commitTransaction();
    }
}
