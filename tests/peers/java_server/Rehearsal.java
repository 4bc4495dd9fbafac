import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;

/**
 * What tests do with Kafka, once through in one machine: whoever starts it keeps the classes that it takes.
 *
 * <pre>
 *   java -XX:ArchiveClassesAtExit=… Rehearsal server.properties 127.0.0.1:9092 …/data
 * </pre>
 */
public final class Rehearsal {
    private static final String TOOLS = "org.apache.kafka.tools.";

    public static void main(String[] arguments) throws Exception {
        String properties = arguments[0];
        String[] server = {"--bootstrap-server", arguments[1]};
        Tools.stayAlive();
        run("kafka.tools.StorageTool", "format", "-t", "4L6g3nShT-eMCtK--X86sw", "-c", properties);
        Thread broker = new Thread(() -> run("kafka.Kafka", properties));
        broker.setDaemon(true);
        broker.start();
        System.setIn(new ByteArrayInputStream("a\nb\n".getBytes(StandardCharsets.UTF_8)));
        ask(server, "TopicCommand", "--create", "--topic", "t");
        ask(server, "ConsoleProducer", "--topic", "t");
        ask(server, "consumer.ConsoleConsumer", "--topic", "t", "--group", "g", "--from-beginning", "--max-messages", "2");
        ask(server, "consumer.group.ConsumerGroupCommand", "--describe", "--group", "g");
        run(TOOLS + "DumpLogSegments", "--deep-iteration", "--files", arguments[2] + "/t-0/00000000000000000000.log");
        System.exit(0); // by way of Kafka's own hook, which stops the broker
    }

    private static void ask(String[] server, String tool, String... words) {
        String[] all = new String[words.length + server.length];
        System.arraycopy(words, 0, all, 0, words.length);
        System.arraycopy(server, 0, all, words.length, server.length);
        run(TOOLS + tool, all);
    }

    private static void run(String main, String... words) {
        try {
            Tools.invoke(Class.forName(main), words);
        } catch (ClassNotFoundException missing) {
            throw new IllegalStateException(missing);
        }
    }
}
