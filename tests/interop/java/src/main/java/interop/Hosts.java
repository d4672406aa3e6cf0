package interop;

import com.azure.cosmos.ChangeFeedProcessor;
import com.azure.cosmos.ChangeFeedProcessorBuilder;
import com.azure.cosmos.CosmosAsyncContainer;
import com.azure.cosmos.models.ChangeFeedProcessorItem;
import com.azure.cosmos.models.ChangeFeedProcessorOptions;
import com.azure.cosmos.models.CosmosQueryRequestOptions;
import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Two unmodified change feed processors that share one lease container. */
final class Hosts implements AutoCloseable {
    private final List<ChangeFeedProcessor> processors = new ArrayList<>();
    private final CosmosAsyncContainer feed;
    private final CosmosAsyncContainer leases;
    private final Mode mode;
    private final Seen seen;

    Hosts(CosmosAsyncContainer feed, CosmosAsyncContainer leases, Mode mode, Seen seen) {
        this.feed = feed;
        this.leases = leases;
        this.mode = mode;
        this.seen = seen;
    }

    void start(String host) {
        ChangeFeedProcessorOptions options = new ChangeFeedProcessorOptions()
            .setFeedPollDelay(Duration.ofMillis(100))
            .setLeaseAcquireInterval(Duration.ofMillis(500))
            .setLeaseRenewInterval(Duration.ofMillis(500))
            .setLeaseExpirationInterval(Duration.ofSeconds(5))
            .setStartFromBeginning(!mode.history());
        ChangeFeedProcessorBuilder builder = new ChangeFeedProcessorBuilder()
            .hostName(host)
            .feedContainer(feed)
            .leaseContainer(leases)
            .options(options);
        switch (mode) {
            case CLASSIC -> builder.handleChanges(changes -> seen.add(host, changes));
            case LATEST -> builder.handleLatestVersionChanges(items -> seen.add(host, nodes(items)));
            case HISTORY -> builder.handleAllVersionsAndDeletesChanges(items -> seen.add(host, nodes(items)));
        }
        ChangeFeedProcessor processor = builder.buildChangeFeedProcessor();
        processor.start().block();
        processors.add(processor);
    }

    private static List<JsonNode> nodes(List<ChangeFeedProcessorItem> items) {
        return items.stream().map(ChangeFeedProcessorItem::toJsonNode).toList();
    }

    /** The leases as they are stored; not the markers and locks beside them. */
    private List<JsonNode> stored() {
        List<JsonNode> found = leases
            .queryItems("SELECT * FROM c", new CosmosQueryRequestOptions(), JsonNode.class)
            .collectList()
            .block();
        return found.stream().filter(lease -> lease.has("LeaseToken")).toList();
    }

    /** How many leases each host owns. */
    Map<String, Integer> owners() {
        Map<String, Integer> owners = new HashMap<>();
        for (JsonNode lease : stored()) {
            owners.merge(lease.path("Owner").asText("nobody"), 1, Integer::sum);
        }
        return owners;
    }

    /** Whether so many leases know where they are. */
    boolean positioned(int count) {
        return stored().stream().filter(lease -> lease.path("ContinuationToken").isTextual()).count() == count;
    }

    @Override
    public void close() {
        processors.forEach(processor -> processor.stop().block());
    }
}
