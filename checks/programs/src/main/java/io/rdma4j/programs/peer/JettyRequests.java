package io.rdma4j.programs.peer;

import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.ssl.SslContextFactory;

/** Jetty with TLS and the JDK's HTTP client: POST requests of 100 000 bytes, whose body is returned. */
final class JettyRequests implements ServingPeer {
    private static final int BYTES = 100_000;
    private static final String PASSWORD = "password";

    @Override
    public void serve(int port, Path folder) throws Exception {
        SslContextFactory.Server tls = new SslContextFactory.Server();
        tls.setKeyStorePath(newKeys(folder).toString());
        tls.setKeyStorePassword(PASSWORD);
        tls.setSniRequired(false);
        Server server = new Server();
        ServerConnector connector = new ServerConnector(server, 1, 1, tls);
        connector.setHost("127.0.0.1");
        connector.setPort(port);
        server.addConnector(connector);
        server.setHandler(new Handler.Abstract() {
            @Override
            public boolean handle(Request request, Response response, Callback callback) throws IOException {
                ByteBuffer body = Content.Source.asByteBuffer(request);
                response.write(true, body, callback);
                return true;
            }
        });
        server.start();
    }

    /** Creates a key and a certificate. */
    private static Path newKeys(Path folder) throws IOException, InterruptedException {
        Path keys = folder.resolve("keys.p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home", ""), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        "server",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=127.0.0.1",
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        keys.toString(),
                        "-storepass",
                        PASSWORD)
                .inheritIO()
                .start();
        if (keytool.waitFor() != 0) {
            throw new IOException("keytool ended with status " + keytool.exitValue());
        }
        return keys;
    }

    @Override
    public PeerClient connect(int port) throws GeneralSecurityException {
        SSLContext tls = SSLContext.getInstance("TLS");
        tls.init(null, new TrustManager[] {new AnyCertificate()}, null);
        HttpClient client = HttpClient.newBuilder().sslContext(tls).build();
        URI address = URI.create("https://127.0.0.1:" + port + "/echo");
        Blocks blocks = new Blocks(BYTES);
        return () -> {
            HttpRequest request = HttpRequest.newBuilder(address)
                    .timeout(Duration.ofSeconds(30))
                    .POST(HttpRequest.BodyPublishers.ofByteArray(blocks.next()))
                    .build();
            blocks.requireSame(client.send(request, HttpResponse.BodyHandlers.ofByteArray())
                    .body());
        };
    }

    /** Accepts the certificate that the server has just created. */
    private static final class AnyCertificate extends X509ExtendedTrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String kind, Socket socket) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String kind, Socket socket) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String kind, SSLEngine engine) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String kind, SSLEngine engine) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String kind) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String kind) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
