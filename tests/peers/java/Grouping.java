import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.admin.ListGroupsOptions;
import org.apache.kafka.clients.admin.MemberToRemove;
import org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.GroupType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Groups from outside: offsets as a consumer that is no member sees them, and Admin's calls for groups. */
final class Grouping {
    static Object run(JsonNode command) throws Exception {
        String call = command.get("do").asText();
        String group = command.get("group").asText();
        switch (call) {
            case "commit":
                return commit(command, group);
            case "committed":
                return committed(command, group);
            default:
                try (Admin admin = Admin.create(Fields.config(command))) {
                    return administer(admin, call, group, command);
                }
        }
    }

    private static Object administer(Admin admin, String call, String group, JsonNode command) throws Exception {
        switch (call) {
            case "list_offsets":
                return rows(admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get());
            case "alter_offsets":
                return admin.alterConsumerGroupOffsets(group, offsets(command)).all().get();
            case "delete_offsets":
                return admin.deleteConsumerGroupOffsets(group, places(command)).all().get();
            case "list":
                return list(admin, command);
            case "describe":
                return describe(admin.describeConsumerGroups(List.of(group)).describedGroups().get(group).get());
            case "delete":
                return admin.deleteConsumerGroups(List.of(group)).deletedGroups().get(group).get();
            case "remove_members":
                List<MemberToRemove> members = new ArrayList<>();
                Fields.list(command.get("instances")).forEach(name -> members.add(new MemberToRemove(name)));
                var options = new RemoveMembersFromConsumerGroupOptions(members);
                return admin.removeMembersFromConsumerGroup(group, options).all().get();
            default:
                throw new IllegalArgumentException("no such call: " + call);
        }
    }

    private static Object commit(JsonNode command, String group) {
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(command, group)) {
            consumer.commitSync(offsets(command));
            return null;
        }
    }

    private static Object committed(JsonNode command, String group) {
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(command, group)) {
            return rows(consumer.committed(places(command)));
        }
    }

    private static Object list(Admin admin, JsonNode command) throws Exception {
        Set<GroupState> states = new HashSet<>();
        Set<GroupType> types = new HashSet<>();
        Fields.list(command.get("states")).forEach(name -> states.add(GroupState.parse(name)));
        Fields.list(command.get("types")).forEach(name -> types.add(GroupType.parse(name)));
        List<String[]> found = new ArrayList<>();
        ListGroupsOptions options = new ListGroupsOptions().inGroupStates(states).withTypes(types);
        for (GroupListing each : admin.listGroups(options).all().get()) {
            String state = each.groupState().map(GroupState::toString).orElse("");
            found.add(new String[] {each.groupId(), state, each.type().map(GroupType::toString).orElse("")});
        }
        return found;
    }

    private static Object describe(ConsumerGroupDescription found) {
        List<Object> members = new ArrayList<>();
        found.members().forEach(member -> {
            List<Object> places = new ArrayList<>();
            member.assignment().topicPartitions().forEach(p -> places.add(Arrays.asList(p.topic(), p.partition())));
            members.add(places);
        });
        String state = found.groupState().toString();
        return Map.of("state", state, "assignor", found.partitionAssignor(), "members", members);
    }

    private static Map<TopicPartition, OffsetAndMetadata> offsets(JsonNode command) {
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        for (JsonNode row : command.get("offsets")) {
            Optional<Integer> epoch = row.get(4).isNull() ? Optional.empty() : Optional.of(row.get(4).asInt());
            OffsetAndMetadata at = new OffsetAndMetadata(row.get(2).asLong(), epoch, row.get(3).asText());
            offsets.put(new TopicPartition(row.get(0).asText(), row.get(1).asInt()), at);
        }
        return offsets;
    }

    private static Set<TopicPartition> places(JsonNode command) {
        Set<TopicPartition> places = new HashSet<>();
        command.get("places").forEach(row -> places.add(new TopicPartition(row.get(0).asText(), row.get(1).asInt())));
        return places;
    }

    private static List<Object> rows(Map<TopicPartition, OffsetAndMetadata> offsets) {
        List<Object> rows = new ArrayList<>();
        offsets.forEach((place, at) -> {
            if (at != null) {
                Integer epoch = at.leaderEpoch().orElse(null);
                rows.add(Arrays.asList(place.topic(), place.partition(), at.offset(), at.metadata(), epoch));
            }
        });
        return rows;
    }

    private static KafkaConsumer<byte[], byte[]> consumer(JsonNode command, String group) {
        Properties config = Fields.config(command);
        config.put("group.id", group);
        config.put("enable.auto.commit", "false");
        ByteArrayDeserializer bytes = new ByteArrayDeserializer();
        return new KafkaConsumer<>(config, bytes, bytes);
    }
}
