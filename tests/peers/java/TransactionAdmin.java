import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.AbortTransactionSpec;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.FenceProducersResult;
import org.apache.kafka.clients.admin.ListTransactionsOptions;
import org.apache.kafka.clients.admin.ProducerState;
import org.apache.kafka.clients.admin.TransactionDescription;
import org.apache.kafka.clients.admin.TransactionListing;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.common.TopicPartition;

/** What an operator may ask about transactions, and do about those that hang. */
final class TransactionAdmin {
    static Object run(JsonNode command) throws Exception {
        try (Admin admin = Admin.create(Fields.config(command))) {
            switch (command.get("ask").asText()) {
                case "list":
                    return list(admin, command);
                case "describe":
                    return describe(admin, command.get("id").asText());
                case "producers":
                    return producers(admin, place(command));
                case "abort":
                    return abort(admin, command);
                case "fence":
                    return fence(admin, command.get("id").asText());
                case "terminate":
                    return admin.forceTerminateTransaction(command.get("id").asText()).result().get();
                default:
                    throw new IllegalArgumentException("cannot ask " + command.get("ask"));
            }
        }
    }

    /** Every filter is optional. */
    private static Object list(Admin admin, JsonNode command) throws Exception {
        ListTransactionsOptions options = new ListTransactionsOptions();
        List<TransactionState> states = new ArrayList<>();
        command.path("states").forEach(state -> states.add(TransactionState.parse(state.asText())));
        List<Long> producers = new ArrayList<>();
        command.path("producers").forEach(producer -> producers.add(producer.asLong()));
        options.filterStates(states).filterProducerIds(producers);
        options.filterOnDuration(command.path("longer_than_ms").asLong(-1));
        options.filterOnTransactionalIdPattern(command.path("pattern").asText(null));
        Map<String, Object> found = new LinkedHashMap<>();
        for (TransactionListing each : admin.listTransactions(options).all().get()) {
            found.put(each.transactionalId(), Map.of("producer", each.producerId(), "state", each.state().toString()));
        }
        return found;
    }

    private static Object describe(Admin admin, String id) throws Exception {
        TransactionDescription found = admin.describeTransactions(List.of(id)).description(id).get();
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("coordinator", found.coordinatorId());
        fields.put("state", found.state().toString());
        fields.put("producer", found.producerId());
        fields.put("epoch", found.producerEpoch());
        fields.put("timeout_ms", found.transactionTimeoutMs());
        fields.put("started", found.transactionStartTimeMs().isPresent());
        fields.put("partitions", found.topicPartitions().stream().map(TopicPartition::toString).sorted().toArray());
        return fields;
    }

    private static Object producers(Admin admin, TopicPartition place) throws Exception {
        List<Object> found = new ArrayList<>();
        for (ProducerState each : admin.describeProducers(List.of(place)).partitionResult(place).get().activeProducers()) {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("producer", each.producerId());
            fields.put("epoch", each.producerEpoch());
            fields.put("sequence", each.lastSequence());
            fields.put("coordinator_epoch", each.coordinatorEpoch().orElse(-1));
            fields.put("start", each.currentTransactionStartOffset().orElse(-1));
            found.add(fields);
        }
        return found;
    }

    private static Object abort(Admin admin, JsonNode command) throws Exception {
        long producer = command.get("producer").asLong();
        short epoch = (short) command.get("epoch").asInt();
        int coordinator = command.get("coordinator_epoch").asInt();
        return admin.abortTransaction(new AbortTransactionSpec(place(command), producer, epoch, coordinator)).all().get();
    }

    private static Object fence(Admin admin, String id) throws Exception {
        FenceProducersResult fenced = admin.fenceProducers(List.of(id));
        fenced.all().get();
        return new long[] {fenced.producerId(id).get(), fenced.epochId(id).get()};
    }

    private static TopicPartition place(JsonNode command) {
        return new TopicPartition(command.get("topic").asText(), command.get("partition").asInt());
    }
}
