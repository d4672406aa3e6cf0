package interop;

import com.azure.cosmos.CosmosAsyncClient;
import com.azure.cosmos.CosmosAsyncContainer;
import com.azure.cosmos.CosmosAsyncDatabase;
import com.azure.cosmos.CosmosClientBuilder;
import com.azure.cosmos.models.ChangeFeedPolicy;
import com.azure.cosmos.models.CosmosContainerProperties;
import com.azure.cosmos.models.ThroughputProperties;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/** The gateway at COSMOS_ENDPOINT: its client, its containers, its control endpoint. */
final class Account {
    /** The emulator's key is public knowledge: every Cosmos DB emulator has it. */
    private static final String KEY =
        "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";
    private static final Pattern STRING = Pattern.compile("\"(\\d+)\"");
    private static final String DATABASE = "interop-java";

    final CosmosAsyncDatabase database;
    private final URI endpoint = URI.create(System.getenv("COSMOS_ENDPOINT"));
    private final HttpClient control;

    Account() throws GeneralSecurityException {
        String key = System.getenv().getOrDefault("COSMOS_KEY", KEY);
        CosmosAsyncClient client = new CosmosClientBuilder()
            .endpoint(endpoint.toString())
            .key(key)
            .gatewayMode()
            .contentResponseOnWriteEnabled(true)
            .buildAsyncClient();
        client.createDatabaseIfNotExists(DATABASE).block();
        database = client.getDatabase(DATABASE);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, new TrustManager[] {new Anyone()}, null);
        control = HttpClient.newBuilder().sslContext(context).build();
    }

    /** A container of four ranges; with {@code history} it keeps all versions and deletes. */
    CosmosAsyncContainer container(String name, boolean history) {
        CosmosContainerProperties properties = new CosmosContainerProperties(name, "/pk");
        if (history) {
            properties.setChangeFeedPolicy(
                ChangeFeedPolicy.createAllVersionsAndDeletesPolicy(Duration.ofMinutes(10)));
        }
        return create(properties, 40_000);
    }

    CosmosAsyncContainer leases(String name) {
        return create(new CosmosContainerProperties(name, "/id"), 400);
    }

    private CosmosAsyncContainer create(CosmosContainerProperties properties, int throughput) {
        database.createContainer(properties, ThroughputProperties.createManualThroughput(throughput)).block();
        return database.getContainer(properties.getId());
    }

    /** Splits a range in two and gives the ids of both. */
    List<String> split(CosmosAsyncContainer container, String range) throws IOException, InterruptedException {
        String answer = control("split", "{\"database\":\"%s\",\"container\":\"%s\",\"range\":\"%s\"}"
            .formatted(DATABASE, container.getId(), range));
        List<String> ranges = new ArrayList<>();
        STRING.matcher(answer).results().forEach(found -> ranges.add(found.group(1)));
        return ranges;
    }

    /** From now on this share of the requests about documents fails in one way or another; 0 ends it. */
    void faults(double rate) throws IOException, InterruptedException {
        control("faults", "{\"rate\":%s,\"seed\":1,\"status\":[408,410,429,449,503]}".formatted(rate));
    }

    private String control(String command, String body) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(endpoint.resolve("_control/" + command))
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
        HttpResponse<String> answer = control.send(request, HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() != 200) {
            throw new IOException(command + ": " + answer.statusCode() + " " + answer.body());
        }
        return answer.body();
    }

    /** The gateway's certificate is made by itself, for itself. */
    private static final class Anyone extends X509ExtendedTrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
