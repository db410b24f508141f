package io.rdma4j.soft;

import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.WorkCompletion;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A process with one endpoint, commanded by lines on its standard input.
 *
 * <p>The commands are {@code connect NUMBER ADDRESS KEY}; {@code run} to write and read back indefinitely;
 * {@code count}; {@code datagrams} to create a datagram queue pair; {@code send NUMBER} to send a thousand datagrams;
 * {@code heard COUNT} to wait for that number of datagrams; {@code quit}.
 */
public final class PeerProcess {
    private PeerProcess() {}

    /** Runs the process; the argument is the local address. */
    public static void main(String[] arguments) throws IOException {
        TestEndpoint endpoint = new TestEndpoint(InetAddress.getByName(arguments[0]));
        say("ready " + endpoint.queuePair.number() + " " + endpoint.region.address() + " "
                + endpoint.region.remoteKey());
        AtomicLong rounds = new AtomicLong();
        DatagramPeer datagrams = null;
        long remoteAddress = 0;
        int remoteKey = 0;
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null && !line.equals("quit"); line = input.readLine()) {
            String[] words = line.split(" ", -1);
            switch (words[0]) {
                case "connect" -> {
                    endpoint.connect(InetAddress.getByName(arguments[0]), Integer.parseInt(words[1]), endpoint.psn);
                    remoteAddress = Long.parseLong(words[2]);
                    remoteKey = Integer.parseInt(words[3]);
                    say("connected");
                }
                case "run" -> {
                    long address = remoteAddress;
                    int key = remoteKey;
                    Thread.ofPlatform().daemon().start(() -> run(endpoint, rounds, address, key));
                }
                case "open" -> {
                    // Setting the path of a queue pair opens the port of the local address.
                    endpoint.connect(InetAddress.getByName(arguments[0]), endpoint.queuePair.number(), 0);
                    say("opened");
                }
                case "datagrams" -> {
                    datagrams = new DatagramPeer(endpoint);
                    say("datagrams " + datagrams.number());
                }
                case "send" -> {
                    InetAddress peer = InetAddress.getByName(arguments[0]);
                    Objects.requireNonNull(datagrams).send(peer, Integer.parseInt(words[1]), 1000);
                    say("sent");
                }
                case "heard" -> {
                    int received = Objects.requireNonNull(datagrams).received(Integer.parseInt(words[1]));
                    say("heard " + received + " " + datagrams.wrong());
                }
                case "count" -> say("rounds " + rounds.get());
                default -> say("unknown " + line);
            }
        }
    }

    /** Writes a number to the peer and reads it back, until something fails. */
    private static void run(TestEndpoint endpoint, AtomicLong rounds, long address, int key) {
        for (long round = 1; ; round++) {
            endpoint.memory.set(ValueLayout.JAVA_LONG, 0, round);
            endpoint.queuePair.postWrite(round, endpoint.region, 0, 8, new RemoteMemory(address + 64, key, 8));
            endpoint.queuePair.postRead(-round, endpoint.region, 8, 8, new RemoteMemory(address + 64, key, 8));
            for (int i = 0; i < 2; i++) {
                WorkCompletion completion = endpoint.completion();
                if (completion.status() != CompletionStatus.SUCCESS) {
                    say("failed " + completion);
                    return;
                }
            }
            if (endpoint.memory.get(ValueLayout.JAVA_LONG, 8) != round) {
                say("wrong " + round);
                return;
            }
            rounds.set(round);
        }
    }

    private static synchronized void say(String line) {
        System.out.println(line);
    }
}
