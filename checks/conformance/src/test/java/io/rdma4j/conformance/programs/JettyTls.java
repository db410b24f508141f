package io.rdma4j.conformance.programs;

import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.ssl.SslContextFactory;

/** A Jetty server with TLS, and the JDK's client, without any RDMA code. */
final class JettyTls {
    private static final int BODY = 700_000;
    private static final int REQUESTS = 5;

    private JettyTls() {}

    public static void main(String[] words) throws Exception {
        Path keys = Path.of(words[3]);
        if (words[0].equals("server")) {
            serve(words[1], Integer.parseInt(words[2]), keys);
        } else {
            get(words[1], Integer.parseInt(words[2]), keys);
        }
    }

    private static void serve(String host, int port, Path keys) throws Exception {
        SslContextFactory.Server tls = new SslContextFactory.Server();
        tls.setKeyStorePath(keys.toString());
        tls.setKeyStorePassword(ProgramsTest.PASSWORD);
        tls.setSniRequired(false);
        Server server = new Server();
        ServerConnector connector = new ServerConnector(server, 1, 1, tls);
        connector.setHost(host);
        connector.setPort(port);
        server.addConnector(connector);
        server.setHandler(new Handler.Abstract() {
            @Override
            public boolean handle(Request request, Response response, Callback callback) {
                response.write(true, ByteBuffer.allocate(BODY), callback);
                return true;
            }
        });
        server.start();
        System.out.println("ready");
        server.join();
    }

    private static void get(String host, int port, Path keys) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(keys)) {
            store.load(in, ProgramsTest.PASSWORD.toCharArray());
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        try (HttpClient client = HttpClient.newBuilder()
                .sslContext(context)
                .connectTimeout(Duration.ofSeconds(20))
                .build()) {
            for (int i = 0; i < REQUESTS; i++) {
                HttpRequest request = HttpRequest.newBuilder(URI.create("https://" + host + ":" + port + "/" + i))
                        .timeout(Duration.ofSeconds(30))
                        .build();
                HttpResponse<byte[]> response = client.send(request, HttpResponse.BodyHandlers.ofByteArray());
                System.out.println(response.statusCode() + " " + response.body().length + " bytes");
            }
        }
    }
}
