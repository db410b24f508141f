package io.rdma4j.tools.programs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** A program that is unaware of RDMA: one blocking socket sends words to another, which echoes them. */
public final class SocketEcho {
    private static final int BACKLOG = 50;

    private SocketEcho() {}

    /** Prints the echo of the arguments, and the number of TCP sockets with the server's port. */
    public static void main(String[] words) throws IOException {
        try (ServerSocket server = new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress())) {
            new Thread(() -> echo(server)).start();
            try (Socket client = new Socket(server.getInetAddress(), server.getLocalPort())) {
                client.getOutputStream().write(String.join(" ", words).getBytes(StandardCharsets.UTF_8));
                client.shutdownOutput();
                byte[] received = client.getInputStream().readAllBytes();
                System.out.println(new String(received, StandardCharsets.UTF_8));
                System.out.println("TCP sockets: " + TcpTable.sockets(server.getLocalPort()));
            }
        }
    }

    private static void echo(ServerSocket server) {
        try (Socket connection = server.accept()) {
            connection.getInputStream().transferTo(connection.getOutputStream());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
