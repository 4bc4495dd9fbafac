import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.kafka.common.utils.Exit;

/**
 * Kafka's command line tools in one virtual machine: one command a line in, what it printed and its exit code out.
 *
 * <pre>
 *   {"main": "org.apache.kafka.tools.TopicCommand", "arguments": ["--list", …], "stdin": "", "until": ""}
 *   → {"code": 0, "out": "…", "err": "…"}
 * </pre>
 *
 * The tools end the process when they are done; here that ends the command. Exit is Kafka's own place for it. Some
 * go on in threads of their own: these may until what they print matches "until", and are then interrupted.
 */
public final class Tools {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int FAILED = 1;
    private static final long PATIENCE_NS = 30_000_000_000L;

    /** What stands for the end of the process. */
    private static final class Ended extends Error {
        final int code;

        Ended(int code) {
            super("exit " + code, null, false, false);
            this.code = code;
        }
    }

    private static volatile Integer code;

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = System.out;
        stayAlive();
        Exit.setShutdownHookAdder((name, runnable) -> { }); // they would all run when this machine ends
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            ObjectNode answer = run(JSON.readTree(line));
            answers.println(JSON.writeValueAsString(answer));
            answers.flush();
        }
        Runtime.getRuntime().halt(0); // whatever threads a tool has left behind
    }

    /** From here on, a tool that ends the process ends itself alone. */
    static void stayAlive() {
        Exit.setExitProcedure((status, message) -> end(status));
        Exit.setHaltProcedure((status, message) -> end(status));
    }

    private static void end(int status) {
        if (code == null) {
            code = status;
        }
        throw new Ended(status);
    }

    private static ObjectNode run(JsonNode command) throws Exception {
        List<String> arguments = new ArrayList<>();
        command.get("arguments").forEach(each -> arguments.add(each.asText()));
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        PrintStream outBefore = System.out;
        PrintStream errBefore = System.err;
        InputStream inBefore = System.in;
        code = null;
        try {
            System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
            System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
            System.setIn(new ByteArrayInputStream(command.get("stdin").asText().getBytes(StandardCharsets.UTF_8)));
            Class<?> main = Class.forName(command.get("main").asText());
            Object words = arguments.toArray(new String[0]);
            ThreadGroup tool = new ThreadGroup("tool");
            Thread thread = new Thread(tool, () ->
                scala.Console.withOut(System.out, () -> scala.Console.withErr(System.err, () -> invoke(main, words))));
            thread.start();
            thread.join();
            await(Pattern.compile(command.get("until").asText()), out);
            tool.interrupt();
        } finally {
            System.setOut(outBefore);
            System.setErr(errBefore);
            System.setIn(inBefore);
        }
        ObjectNode answer = JSON.createObjectNode();
        answer.put("code", code == null ? 0 : code);
        answer.put("out", out.toString(StandardCharsets.UTF_8));
        answer.put("err", err.toString(StandardCharsets.UTF_8));
        return answer;
    }

    private static void await(Pattern wanted, ByteArrayOutputStream out) throws InterruptedException {
        long end = System.nanoTime() + PATIENCE_NS;
        while (!wanted.matcher(out.toString(StandardCharsets.UTF_8)).find() && System.nanoTime() < end) {
            Thread.sleep(20);
        }
    }

    /** Calls a tool's main, and comes back however it ends. */
    static Object invoke(Class<?> main, Object words) {
        try {
            main.getMethod("main", String[].class).invoke(null, words);
        } catch (InvocationTargetException thrown) {
            if (!(thrown.getCause() instanceof Ended)) {
                thrown.getCause().printStackTrace();
                code = FAILED;
            }
        } catch (ReflectiveOperationException missing) {
            throw new IllegalStateException(missing);
        }
        return null;
    }
}
