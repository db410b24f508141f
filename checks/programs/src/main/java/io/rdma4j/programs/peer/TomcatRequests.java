package io.rdma4j.programs.peer;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

/** Tomcat and the JDK's HTTP client: POST requests of 10 000 bytes, which a servlet returns. */
final class TomcatRequests implements ServingPeer {
    static final String NIO = "org.apache.coyote.http11.Http11NioProtocol";
    static final String NIO2 = "org.apache.coyote.http11.Http11Nio2Protocol";

    private static final int BYTES = 10_000;

    private final String protocol;

    TomcatRequests(String protocol) {
        this.protocol = protocol;
    }

    /** Returns the body of a request. */
    private static final class EchoServlet extends HttpServlet {
        private static final long serialVersionUID = 1;

        @Override
        protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
            byte[] body = request.getInputStream().readAllBytes();
            response.setContentLength(body.length);
            response.getOutputStream().write(body);
        }
    }

    @Override
    public void serve(int port, Path folder) throws LifecycleException {
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(folder.toString());
        Connector connector = new Connector(protocol);
        connector.setProperty("address", "127.0.0.1");
        connector.setPort(port);
        tomcat.setConnector(connector);
        Context context = tomcat.addContext("", folder.toString());
        Tomcat.addServlet(context, "echo", new EchoServlet());
        context.addServletMapping("/echo", "echo");
        tomcat.start();
    }

    @Override
    public PeerClient connect(int port) {
        HttpClient client =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        URI address = URI.create("http://127.0.0.1:" + port + "/echo");
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
}
