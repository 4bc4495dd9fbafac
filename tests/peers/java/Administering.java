import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.DescribeClusterResult;
import org.apache.kafka.clients.admin.LogDirDescription;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.config.ConfigResource;

/** Kafka's Admin client: topics, partitions, configs, records, offsets, the cluster and its folders. */
final class Administering {
    static Object run(String call, JsonNode command) throws Exception {
        try (Admin admin = Admin.create(Fields.config(command))) {
            switch (call) {
                case "create_topic":
                    return createTopic(admin, command);
                case "delete_topic":
                    return admin.deleteTopics(List.of(topic(command))).all().get();
                case "topics":
                    return admin.listTopics().names().get();
                case "describe_topic":
                    return describeTopic(admin, command);
                case "create_partitions":
                    NewPartitions total = NewPartitions.increaseTo(command.get("count").asInt());
                    return admin.createPartitions(Map.of(topic(command), total)).all().get();
                case "describe_configs":
                    return describeConfigs(admin, resource(command));
                case "alter_configs":
                    return alterConfigs(admin, command);
                case "delete_records":
                    return deleteRecords(admin, command);
                case "list_offset":
                    return listOffset(admin, command);
                case "describe_cluster":
                    return describeCluster(admin);
                case "describe_log_dirs":
                    return describeLogDirs(admin, command.get("broker").asInt());
                default:
                    throw new IllegalArgumentException("no such call: " + call);
            }
        }
    }

    private static String topic(JsonNode command) {
        return command.get("topic").asText();
    }

    private static TopicPartition place(JsonNode command) {
        return new TopicPartition(topic(command), command.get("partition").asInt());
    }

    private static ConfigResource resource(JsonNode command) {
        return command.has("broker")
                ? new ConfigResource(ConfigResource.Type.BROKER, command.get("broker").asText())
                : new ConfigResource(ConfigResource.Type.TOPIC, topic(command));
    }

    private static Object createTopic(Admin admin, JsonNode command) throws Exception {
        JsonNode partitions = command.get("partitions");
        JsonNode replicas = command.get("replicas");
        Optional<Integer> count = partitions.isNull() ? Optional.empty() : Optional.of(partitions.asInt());
        Optional<Short> copies = replicas.isNull() ? Optional.empty() : Optional.of((short) replicas.asInt());
        NewTopic topic = new NewTopic(topic(command), count, copies);
        topic.configs(Fields.strings(command.get("configs")));
        return admin.createTopics(List.of(topic)).numPartitions(topic(command)).get();
    }

    private static Object describeTopic(Admin admin, JsonNode command) throws Exception {
        TopicDescription found = admin.describeTopics(List.of(topic(command))).allTopicNames().get().get(topic(command));
        Map<String, Object> partitions = new LinkedHashMap<>();
        for (TopicPartitionInfo info : found.partitions()) {
            partitions.put("" + info.partition(), Map.of("leader", info.leader().id(), "isr", ids(info.isr())));
        }
        return Map.of("id", found.topicId().toString(), "partitions", partitions);
    }

    private static List<Integer> ids(Iterable<Node> nodes) {
        List<Integer> ids = new ArrayList<>();
        nodes.forEach(node -> ids.add(node.id()));
        return ids;
    }

    private static Object describeConfigs(Admin admin, ConfigResource resource) throws Exception {
        Config config = admin.describeConfigs(List.of(resource)).all().get().get(resource);
        Map<String, Object> entries = new LinkedHashMap<>();
        for (ConfigEntry entry : config.entries()) {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("value", entry.value());
            fields.put("source", entry.source().name());
            fields.put("type", entry.type().name());
            fields.put("read_only", entry.isReadOnly());
            entries.put(entry.name(), fields);
        }
        return entries;
    }

    /** A null value takes the setting back to its default. */
    private static Object alterConfigs(Admin admin, JsonNode command) throws Exception {
        List<AlterConfigOp> changes = new ArrayList<>();
        Fields.strings(command.get("configs")).forEach((name, value) -> {
            AlterConfigOp.OpType kind = value == null ? AlterConfigOp.OpType.DELETE : AlterConfigOp.OpType.SET;
            changes.add(new AlterConfigOp(new ConfigEntry(name, value), kind));
        });
        return admin.incrementalAlterConfigs(Map.of(resource(command), changes)).all().get();
    }

    private static Object deleteRecords(Admin admin, JsonNode command) throws Exception {
        RecordsToDelete before = RecordsToDelete.beforeOffset(command.get("before").asLong());
        return admin.deleteRecords(Map.of(place(command), before)).lowWatermarks().get(place(command)).get().lowWatermark();
    }

    private static Object listOffset(Admin admin, JsonNode command) throws Exception {
        var asked = admin.listOffsets(Map.of(place(command), spec(command.get("spec"))));
        var found = asked.partitionResult(place(command)).get();
        return new long[] {found.offset(), found.timestamp()};
    }

    private static OffsetSpec spec(JsonNode spec) {
        if (spec.isNumber()) {
            return OffsetSpec.forTimestamp(spec.asLong());
        }
        switch (spec.asText()) {
            case "earliest":
                return OffsetSpec.earliest();
            case "latest":
                return OffsetSpec.latest();
            case "max_timestamp":
                return OffsetSpec.maxTimestamp();
            default:
                throw new IllegalArgumentException("no such spec: " + spec);
        }
    }

    private static Object describeCluster(Admin admin) throws Exception {
        DescribeClusterResult cluster = admin.describeCluster();
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("id", cluster.clusterId().get());
        fields.put("controller", cluster.controller().get().id());
        fields.put("brokers", ids(cluster.nodes().get()));
        return fields;
    }

    private static Object describeLogDirs(Admin admin, int broker) throws Exception {
        Map<String, LogDirDescription> found = admin.describeLogDirs(List.of(broker)).descriptions().get(broker).get();
        Map<String, Object> folders = new LinkedHashMap<>();
        found.forEach((folder, described) -> {
            Map<String, Object> sizes = new LinkedHashMap<>();
            described.replicaInfos().forEach((place, replica) -> sizes.put(place.toString(), replica.size()));
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("sizes", sizes);
            fields.put("total", described.totalBytes().orElse(-1));
            folders.put(folder, fields);
        });
        return folders;
    }
}
