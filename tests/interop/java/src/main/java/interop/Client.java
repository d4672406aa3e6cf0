package interop;

import com.azure.cosmos.CosmosAsyncContainer;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Microsoft's change feed processor, unmodified, against the gateway at COSMOS_ENDPOINT: two hosts share
 * the ranges of a container, two splits in a row happen under load, and nothing may be lost.
 *
 * <p>Prints one line a check: {@code ok NAME} or {@code FAILED NAME: why}.
 */
public final class Client {
    private static final int EACH = 200;
    private static final int PATIENCE = 30;

    private final Account account;
    private boolean good = true;

    private Client(Account account) {
        this.account = account;
    }

    public static void main(String[] arguments) throws Exception {
        // A call without an end would hold the tests up for ever.
        CompletableFuture.delayedExecutor(180, TimeUnit.SECONDS).execute(() -> {
            System.out.println("FAILED in_time: it took more than three minutes");
            Runtime.getRuntime().halt(1);
        });
        Client client = new Client(new Account());
        for (Mode mode : Mode.values()) {
            client.processor(mode);
        }
        // The client's threads would hold the program up.
        System.exit(client.good ? 0 : 1);
    }

    private void processor(Mode mode) throws Exception {
        CosmosAsyncContainer feed = account.container(mode.toString(), mode.history());
        CosmosAsyncContainer leases = account.leases(mode + "-leases");
        Writer writer = new Writer(feed, mode.history());
        Seen seen = new Seen();
        if (!mode.history()) {
            writer.write("before", EACH);
        }
        try (Hosts hosts = new Hosts(feed, leases, mode, seen)) {
            hosts.start("first");
            begin(hosts, writer, seen);
            writer.write("alone", EACH);
            check(mode + "_one_host", arrives(seen, writer));

            // The second host takes leases from the first while there is much to do.
            hosts.start("second");
            writer.write("shared", EACH);
            check(mode + "_two_hosts", arrives(seen, writer));
            check(mode + "_both_hosts_own_leases", shared(hosts, seen, 4));

            CompletableFuture<Void> load = CompletableFuture.runAsync(() -> writer.write("load", 3 * EACH));
            writer.write("unsplit", EACH / 4);
            String child = account.split(feed, "0").get(0);
            writer.write("split", EACH / 4);
            account.split(feed, child);
            writer.write("twice", EACH / 4);
            load.join();
            check(mode + "_two_splits_in_a_row_under_load", arrives(seen, writer));
            check(mode + "_both_hosts_own_leases_after_splits", shared(hosts, seen, 6));

            writer.write("after", EACH);
            check(mode + "_after_the_splits", arrives(seen, writer));

            account.faults(0.05);
            writer.write("faulty", EACH);
            account.faults(0);
            check(mode + "_faults_in_one_request_of_twenty", arrives(seen, writer));
            Set<String> strange = seen.strange(writer.written);
            check(mode + "_nothing_else", strange.isEmpty() ? null : strange.toString());
        }
        System.out.println("   " + mode + ": " + writer.wanted.size() + " versions to deliver, " + seen);
    }

    /**
     * Until every range has delivered something and stored where it is: a processor that starts from now has no
     * position before, and what was written then is rightly not seen.
     */
    private void begin(Hosts hosts, Writer writer, Seen seen) throws InterruptedException {
        int[] version = {0};
        boolean begun = seen.await(() -> {
            writer.probe(++version[0]);
            return hosts.positioned(4);
        }, PATIENCE);
        if (!begun) {
            throw new IllegalStateException("four leases never came to have a position");
        }
    }

    /** Why not all that was written arrived, or null. */
    private static String arrives(Seen seen, Writer writer) throws InterruptedException {
        if (seen.await(() -> seen.missing(writer.wanted).isEmpty(), PATIENCE)) {
            return null;
        }
        Set<String> missing = seen.missing(writer.wanted);
        return "%d of %d are missing: %s".formatted(
            missing.size(), writer.wanted.size(), missing.stream().limit(8).toList());
    }

    /** Why the leases are not shared by two hosts, or null. */
    private static String shared(Hosts hosts, Seen seen, int leases) throws InterruptedException {
        boolean shared = seen.await(() -> {
            Map<String, Integer> owners = hosts.owners();
            int owned = owners.getOrDefault("first", 0) + owners.getOrDefault("second", 0);
            return owners.size() == 2 && owned == leases;
        }, PATIENCE);
        return shared ? null : "owners are " + hosts.owners();
    }

    private void check(String name, String why) {
        good &= why == null;
        System.out.println(why == null ? "ok " + name : "FAILED " + name + ": " + why);
    }
}
