package interop;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/** What the hosts were given: how often each version of each document, and by whom. */
final class Seen {
    private final Lock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Map<String, Integer> counts = new HashMap<>();
    private final Map<String, Integer> byHost = new HashMap<>();
    private int total;

    /** The name of a version: what the writer writes down, and what the feed must bring. */
    static String version(String id, int version) {
        return id + "#" + version;
    }

    static String deletion(String id) {
        return id + "#deleted";
    }

    void add(String host, List<JsonNode> changes) {
        lock.lock();
        try {
            for (JsonNode change : changes) {
                JsonNode current = change.has("metadata") ? change.path("current") : change;
                boolean deleted = change.at("/metadata/operationType").asText().equals("delete");
                String one = deleted
                    ? deletion(change.at("/metadata/id").asText())
                    : version(current.path("id").asText(), current.path("version").asInt());
                counts.merge(one, 1, Integer::sum);
                total++;
            }
            byHost.merge(host, changes.size(), Integer::sum);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until the condition holds or the time is over; it is asked at each page, and now and then. The lock is not
     * held meanwhile: hosts go on.
     */
    boolean await(BooleanSupplier condition, int seconds) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                return false;
            }
            lock.lock();
            try {
                changed.await(200, TimeUnit.MILLISECONDS);
            } finally {
                lock.unlock();
            }
        }
        return true;
    }

    /** Those of {@code wanted} that no host was given. */
    Set<String> missing(Set<String> wanted) {
        lock.lock();
        try {
            Set<String> missing = new TreeSet<>(wanted);
            missing.removeAll(counts.keySet());
            return missing;
        } finally {
            lock.unlock();
        }
    }

    /** What was given that nobody wrote. */
    Set<String> strange(Set<String> written) {
        lock.lock();
        try {
            Set<String> strange = new TreeSet<>(counts.keySet());
            strange.removeAll(written);
            return strange;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public String toString() {
        return "%d deliveries of %d versions, by host %s".formatted(total, counts.size(), byHost);
    }
}
