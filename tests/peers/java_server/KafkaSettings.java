import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.Field;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.coordinator.group.GroupConfig;
import org.apache.kafka.server.config.AbstractKafkaConfig;
import org.apache.kafka.server.config.DynamicBrokerConfig;
import org.apache.kafka.server.config.DynamicConfig;
import org.apache.kafka.server.metrics.ClientMetricsConfigs;
import org.apache.kafka.storage.internals.log.LogConfig;

/**
 * Every setting that Kafka's jars define, as one JSON object: kind → name → [type, default, bounds, internal].
 *
 * Of brokers there are two tables: what server.properties may hold, and what may change while a broker runs.
 */
public final class KafkaSettings {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] arguments) throws Exception {
        ObjectNode all = JSON.createObjectNode();
        Field topics = LogConfig.class.getDeclaredField("CONFIG"); // it is public in the tables of all others
        topics.setAccessible(true);
        put(all.putObject("topic"), ((ConfigDef) topics.get(null)).configKeys());
        put(all.putObject("broker"), AbstractKafkaConfig.CONFIG_DEF.configKeys());
        put(all.putObject("live"), DynamicConfig.Broker.configKeys());
        put(all.putObject("group"), GroupConfig.CONFIG_DEF.configKeys());
        put(all.putObject("client metrics"), ClientMetricsConfigs.configDef().configKeys());
        ObjectNode synonyms = all.putObject("group synonyms");
        GroupConfig.ALL_GROUP_CONFIG_SYNONYMS.forEach((name, of) -> synonyms.put(name, of.orElse(null)));
        ObjectNode reach = all.putObject("reach");
        DynamicBrokerConfig.dynamicConfigUpdateModes().forEach(reach::put);
        System.out.println(all);
    }

    private static void put(ObjectNode into, Map<String, ConfigDef.ConfigKey> keys) {
        for (ConfigDef.ConfigKey key : new TreeMap<>(keys).values()) {
            ArrayNode row = into.putArray(key.name);
            row.add(key.type.name());
            row.add(key.hasDefault() ? ConfigDef.convertToString(key.defaultValue, key.type) : null);
            row.add(key.validator == null ? null : key.validator.toString());
            row.add(key.internalConfig);
        }
    }
}
