import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/**
 * Members of consumer groups in Java: commands in JSON lines for any number of them, and what happens to each.
 *
 * <pre>
 *   {"member": "a", "do": "join", "group": "…", …}      →   {"member": "a", "at": ns, "event": "assigned", …}
 *   {"member": "a", "do": "pause" | "resume" | "leave"} →   … revoked, lost, record, committed, error, left
 * </pre>
 *
 * A member is a thread with a consumer of its own. The clock is System.nanoTime, which on Linux all processes
 * share. When the commands end, so does the machine, and none of its members says goodbye.
 */
public final class Members {
    static final ObjectMapper JSON = new ObjectMapper();
    private static PrintStream out;

    public static void main(String[] arguments) throws Exception {
        out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err); // whatever a library prints must not look like an event
        Map<String, GroupMember> members = new HashMap<>();
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            JsonNode command = JSON.readTree(line);
            String name = command.get("member").asText();
            if (command.get("do").asText().equals("join")) {
                GroupMember member = new GroupMember(name, command);
                members.put(name, member);
                new Thread(member, name).start();
            } else {
                members.get(name).told(command.get("do").asText());
            }
        }
        Runtime.getRuntime().halt(0);
    }

    /** One line; the time is taken while nobody else writes, so that the lines stand in its order. */
    static synchronized void tell(String member, String event, ObjectNode more) {
        ObjectNode line = JSON.createObjectNode();
        line.put("member", member);
        line.put("at", System.nanoTime());
        line.put("event", event);
        line.setAll(more);
        out.println(line);
        out.flush();
    }
}
