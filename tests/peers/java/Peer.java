import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.protocol.Errors;

/**
 * Kafka's Java clients, driven by JSON lines: one command a line in, one answer a line out.
 *
 * <pre>
 *   {"call": "produce", "bootstrap": "…", …}   →   {"result": …}  or  {"error": 3, "name": "…", "message": "…"}
 * </pre>
 *
 * One machine serves a whole test session, because starting one costs more than most tests. An error is told
 * by Kafka's own number, so that it can be compared with what the other clients report.
 */
public final class Peer {
    static final ObjectMapper JSON = new ObjectMapper();
    private static final PrintStream answers = new PrintStream(System.out, false, StandardCharsets.UTF_8);

    public static void main(String[] arguments) throws Exception {
        System.setOut(System.err); // whatever a library prints must not look like an answer
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            answers.println(JSON.writeValueAsString(answer(JSON.readTree(line))));
            answers.flush();
        }
    }

    /** Tell how far a long command is, on a line of its own before its answer. */
    static void reached(String point) {
        answers.println(JSON.createObjectNode().put("reached", point));
        answers.flush();
    }

    private static ObjectNode answer(JsonNode command) {
        ObjectNode answer = JSON.createObjectNode();
        try {
            answer.set("result", JSON.valueToTree(run(command)));
        } catch (Throwable thrown) {
            Throwable cause = thrown instanceof ExecutionException ? thrown.getCause() : thrown;
            answer.put("error", code(cause));
            answer.put("name", cause.getClass().getSimpleName());
            answer.put("message", String.valueOf(cause.getMessage()));
        }
        return answer;
    }

    /** The consumer throws a class of its own for an offset out of range, which the table does not know. */
    private static short code(Throwable cause) {
        boolean outOfRange = cause instanceof OffsetOutOfRangeException;
        return outOfRange ? Errors.OFFSET_OUT_OF_RANGE.code() : Errors.forException(cause).code();
    }

    private static Object run(JsonNode command) throws Exception {
        String call = command.get("call").asText();
        switch (call) {
            case "produce":
                return Producing.produce(command);
            case "produce_each":
                return Producing.produceEach(command);
            case "consume":
                return Consuming.consume(command);
            case "poll_all":
                return Consuming.pollAll(command);
            case "transact":
                return Transacting.run(command);
            case "end_offset":
                return Isolating.endOffset(command);
            case "groups":
                return Grouping.run(command);
            case "transactions":
                return TransactionAdmin.run(command);
            case "cluster":
                return Clustering.run(command);
            default:
                return Administering.run(call, command);
        }
    }
}
