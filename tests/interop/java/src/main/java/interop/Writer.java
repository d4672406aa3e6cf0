package interop;

import com.azure.cosmos.CosmosAsyncContainer;
import com.azure.cosmos.models.CosmosItemRequestOptions;
import com.azure.cosmos.models.PartitionKey;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Writes documents of 50 partition keys, and writes down what a feed must bring. */
final class Writer {
    private static final int AT_ONCE = 8;
    /** Beside the client's own, which does not repeat every write. */
    private static final int RETRIES = 20;

    private final CosmosAsyncContainer container;
    private final boolean history;
    /** All that may be delivered. */
    final Set<String> written = ConcurrentHashMap.newKeySet();
    /** All that must be delivered: every version, or the last of each document. */
    final Set<String> wanted = ConcurrentHashMap.newKeySet();

    Writer(CosmosAsyncContainer container, boolean history) {
        this.container = container;
        this.history = history;
    }

    /** Creates documents, replaces every third, and deletes every fifth where deletes are seen. */
    void write(String prefix, int count) {
        Flux.range(0, count).flatMap(number -> {
            String id = prefix + number;
            String key = "k" + number % 50;
            List<Integer> versions = number % 3 == 0 ? List.of(1, 2) : List.of(1);
            boolean delete = history && number % 5 == 0;
            versions.forEach(version -> note(id, version, version == versions.size()));
            if (delete) {
                written.add(Seen.deletion(id));
                wanted.add(Seen.deletion(id));
            }
            return Flux.fromIterable(versions)
                .concatMap(version -> put(id, key, version))
                .then(delete
                    ? container.deleteItem(id, new PartitionKey(key)).retry(RETRIES).then()
                    : Mono.empty());
        }, AT_ONCE).blockLast();
    }

    /** One version of each of 50 documents, one for each key, which may be delivered and need not. */
    void probe(int version) {
        Flux.range(0, 50).flatMap(number -> {
            written.add(Seen.version("probe" + number, version));
            return put("probe" + number, "k" + number, version);
        }, AT_ONCE).blockLast();
    }

    private void note(String id, int version, boolean last) {
        written.add(Seen.version(id, version));
        if (history || last) {
            wanted.add(Seen.version(id, version));
        }
    }

    private Mono<Void> put(String id, String key, int version) {
        Map<String, Object> document = Map.of("id", id, "pk", key, "version", version);
        return container.upsertItem(document, new PartitionKey(key), new CosmosItemRequestOptions())
            .retry(RETRIES)
            .then();
    }
}
