package io.rdma4j.soft;

import io.rdma4j.fixture.TestEndpoint;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;

/** A process that receives one message and exits immediately, without closing anything. */
public final class LastReceiveProcess {
    private LastReceiveProcess() {}

    /** Runs the process; the argument is the local address. */
    public static void main(String[] arguments) throws IOException {
        InetAddress address = InetAddress.getByName(arguments[0]);
        TestEndpoint endpoint = new TestEndpoint(address);
        System.out.println("ready " + endpoint.queuePair.number());
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        int peer = Integer.parseInt(input.readLine());
        endpoint.connect(address, peer, endpoint.psn);
        endpoint.postReceive(1);
        System.out.println("posted");
        boolean received = endpoint.completion().isSuccess();
        System.exit(received ? 0 : 1);
    }
}
