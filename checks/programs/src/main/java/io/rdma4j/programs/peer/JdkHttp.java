package io.rdma4j.programs.peer;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

/** A client of the JDK's own HTTP server, {@code java -m jdk.httpserver}, which lists a folder. */
final class JdkHttp implements Peer {
    @Override
    public PeerClient connect(int port) {
        HttpClient client =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/"))
                .timeout(Duration.ofSeconds(30))
                .build();
        return () -> {
            HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
            if (!response.body().contains("Directory listing")) {
                throw new IOException("status " + response.statusCode() + ", and no list of the folder");
            }
        };
    }
}
