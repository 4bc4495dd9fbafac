import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.FeatureMetadata;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.QuorumInfo;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicPartition;

/** Kafka's Admin client, on the cluster itself: its quorum, where replicas are, who leads. */
final class Clustering {
    static Object run(JsonNode command) throws Exception {
        try (Admin admin = Admin.create(Fields.config(command))) {
            switch (command.get("what").asText()) {
                case "create":
                    return create(admin, command);
                case "quorum":
                    return quorum(admin.describeMetadataQuorum().quorumInfo().get());
                case "features":
                    return features(admin.describeFeatures().featureMetadata().get());
                case "reassign":
                    return reassign(admin, command);
                case "under_way":
                    return underWay(admin);
                case "elect":
                    return elect(admin, command);
                case "unregister":
                    return admin.unregisterBroker(command.get("broker").asInt()).all().get();
                default:
                    throw new IllegalArgumentException("no such question: " + command);
            }
        }
    }

    private static TopicPartition place(JsonNode command) {
        return new TopicPartition(command.get("topic").asText(), command.get("partition").asInt());
    }

    private static List<Integer> numbers(JsonNode array) {
        List<Integer> found = new ArrayList<>();
        array.forEach(item -> found.add(item.asInt()));
        return found;
    }

    private static Object create(Admin admin, JsonNode command) throws Exception {
        Map<Integer, List<Integer>> places = new LinkedHashMap<>();
        command.get("replicas").forEach(replicas -> places.put(places.size(), numbers(replicas)));
        return admin.createTopics(List.of(new NewTopic(command.get("topic").asText(), places))).all().get();
    }

    private static Object quorum(QuorumInfo quorum) {
        List<Integer> voters = new ArrayList<>();
        quorum.voters().forEach(voter -> voters.add(voter.replicaId()));
        return Map.of("leader", quorum.leaderId(), "voters", voters, "watermark", quorum.highWatermark());
    }

    private static Object features(FeatureMetadata found) {
        Map<String, Object> levels = new LinkedHashMap<>();
        found.finalizedFeatures().forEach((name, range) -> levels.put(name, range.maxVersionLevel()));
        return levels;
    }

    /** No replicas calls a reassignment off. */
    private static Object reassign(Admin admin, JsonNode command) throws Exception {
        JsonNode replicas = command.get("replicas");
        Optional<NewPartitionReassignment> wanted =
                replicas.isNull() ? Optional.empty() : Optional.of(new NewPartitionReassignment(numbers(replicas)));
        return admin.alterPartitionReassignments(Map.of(place(command), wanted)).all().get();
    }

    private static Object underWay(Admin admin) throws Exception {
        Map<String, Object> found = new LinkedHashMap<>();
        admin.listPartitionReassignments().reassignments().get().forEach((place, moves) ->
                found.put(place.toString(), Map.of("adding", moves.addingReplicas(), "removing", moves.removingReplicas())));
        return found;
    }

    private static Object elect(Admin admin, JsonNode command) throws Exception {
        ElectionType kind = command.get("unclean").asBoolean() ? ElectionType.UNCLEAN : ElectionType.PREFERRED;
        var told = admin.electLeaders(kind, Set.of(place(command))).partitions().get().get(place(command));
        if (told != null && told.isPresent()) {
            throw (Exception) told.get();
        }
        return "elected";
    }
}
