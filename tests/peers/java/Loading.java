import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * A writer that goes on until its stdin ends: records numbered by partition, at a rate, and a line for each answer.
 *
 * <pre>
 *   in    {"config": {…}, "topic": "…", "partitions": 4, "rate": 200, "writer": "java"}
 *   out   sent 0 17 -          acked 0 17 4711          failed 0 17 why
 * </pre>
 */
public final class Loading {
    public static void main(String[] arguments) throws Exception {
        PrintStream answers = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        JsonNode told = new ObjectMapper().readTree(commands.readLine());
        AtomicBoolean over = new AtomicBoolean();
        Thread waiting = new Thread(() -> {
            try {
                while (commands.readLine() != null) {}
            } catch (java.io.IOException gone) {
                // as good as the end
            }
            over.set(true);
        });
        waiting.setDaemon(true);
        waiting.start();
        write(told, over, answers);
    }

    private static void write(JsonNode told, AtomicBoolean over, PrintStream answers) throws Exception {
        Properties config = new Properties();
        told.get("config").properties().forEach(each -> config.put(each.getKey(), each.getValue().asText()));
        String topic = told.get("topic").asText();
        String writer = told.get("writer").asText();
        int partitions = told.get("partitions").asInt();
        double rate = told.get("rate").asDouble();
        long[] next = new long[partitions];
        ByteArraySerializer bytes = new ByteArraySerializer();
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(config, bytes, bytes)) {
            long began = System.nanoTime();
            for (long count = 1; !over.get(); count++) {
                long ahead = began + (long) (count / rate * 1e9) - System.nanoTime();
                if (ahead > 0) {
                    Thread.sleep(ahead / 1_000_000, (int) (ahead % 1_000_000));
                }
                int partition = (int) (count % partitions);
                long number = next[partition]++;
                byte[] value = (writer + ":" + number).getBytes(StandardCharsets.UTF_8);
                say(answers, "sent " + partition + " " + number + " -");
                producer.send(new ProducerRecord<>(topic, partition, null, value), (place, error) -> {
                    String name = " " + partition + " " + number + " ";
                    say(answers, error == null ? "acked" + name + place.offset() : "failed" + name + error);
                });
            }
            producer.flush();
        }
    }

    private static synchronized void say(PrintStream answers, String line) {
        answers.println(line);
        answers.flush();
    }
}
