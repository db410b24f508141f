package io.rdma4j.examples;

import io.rdma4j.Access;
import io.rdma4j.Buffer;
import io.rdma4j.Connection;
import io.rdma4j.ConnectionRequest;
import io.rdma4j.Exposed;
import io.rdma4j.Listener;
import io.rdma4j.verbs.RemoteMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/** Clients that change a server's memory one at a time. A COMPARE_AND_SWAP lock next to the data protects it. */
public final class DistributedLock {
    private static final int CLIENTS = 4;
    private static final int ROUNDS = 50;
    private static final long FREE = 0;

    private DistributedLock() {}

    /** Runs the server, and clients that increment two shared numbers. */
    public static void main(String[] arguments) throws InterruptedException {
        MemorySegment memory = Arena.ofAuto().allocate(3 * Long.BYTES, Long.BYTES);
        try (Exposed exposed = Exposed.of(memory, Access.READ, Access.WRITE, Access.ATOMIC);
                Listener listener =
                        Listener.bind(new InetSocketAddress(arguments.length > 0 ? arguments[0] : "127.0.0.1", 0))) {
            Thread.startVirtualThread(() -> {
                for (ConnectionRequest request : listener) {
                    Connection _ = request.privateData(exposed).accept();
                }
            });
            List<Thread> clients = new ArrayList<>();
            for (int i = 1; i <= CLIENTS; i++) {
                long name = i;
                clients.add(Thread.startVirtualThread(() -> count(listener.address(), name)));
            }
            for (Thread client : clients) {
                client.join();
            }
        }
        System.out.println("server: the numbers are " + memory.getAtIndex(ValueLayout.JAVA_LONG, 1) + " and "
                + memory.getAtIndex(ValueLayout.JAVA_LONG, 2));
    }

    // tag::lock[]
    /**
     * Increments both numbers while holding the lock. A client that dies while it holds the lock keeps it; its name in the
     * lock identifies it.
     */
    private static void count(InetSocketAddress address, long name) {
        try (Connection server = Connection.to(address).connect();
                Buffer numbers = server.allocate(2 * Long.BYTES)) {
            RemoteMemory lock = server.peer().memory().slice(0, Long.BYTES);
            RemoteMemory data = server.peer().memory().slice(Long.BYTES, 2 * Long.BYTES);
            for (int round = 0; round < ROUNDS; round++) {
                while (server.compareAndSwap(lock, FREE, name) != FREE) {
                    Thread.onSpinWait();
                }
                server.read(numbers, data);
                for (int i = 0; i < 2; i++) {
                    long number = numbers.memory().getAtIndex(ValueLayout.JAVA_LONG, i);
                    numbers.memory().setAtIndex(ValueLayout.JAVA_LONG, i, number + 1);
                }
                server.write(numbers, data);
                server.compareAndSwap(lock, name, FREE);
            }
        }
    }
    // end::lock[]
}
