import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;

/** Reading a command's fields and writing an answer's: bytes travel as base64, null as null. */
final class Fields {
    static byte[] bytes(JsonNode field) {
        return field == null || field.isNull() ? null : Base64.getDecoder().decode(field.asText());
    }

    static String text(byte[] bytes) {
        return bytes == null ? null : Base64.getEncoder().encodeToString(bytes);
    }

    /** The client's own defaults, the address, and whatever the command adds to them. */
    static Properties config(JsonNode command) {
        Properties config = new Properties();
        config.put("bootstrap.servers", command.get("bootstrap").asText());
        command.path("config").properties().forEach(e -> config.put(e.getKey(), e.getValue().asText()));
        return config;
    }

    static Map<String, String> strings(JsonNode object) {
        Map<String, String> found = new LinkedHashMap<>();
        object.properties().forEach(e -> found.put(e.getKey(), e.getValue().isNull() ? null : e.getValue().asText()));
        return found;
    }

    static List<String> list(JsonNode array) {
        List<String> found = new ArrayList<>();
        array.forEach(item -> found.add(item.asText()));
        return found;
    }

    static Headers headers(JsonNode pairs) {
        RecordHeaders headers = new RecordHeaders();
        pairs.forEach(pair -> headers.add(pair.get(0).asText(), bytes(pair.get(1))));
        return headers;
    }

    static List<String[]> pairs(Headers headers) {
        List<String[]> pairs = new ArrayList<>();
        for (Header header : headers) {
            pairs.add(new String[] {header.key(), text(header.value())});
        }
        return pairs;
    }
}
