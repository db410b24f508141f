package io.rdma4j.faults.hosts;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * A host: a network namespace with a loopback interface. Closing it kills what runs there and removes it. Used by the
 * thread of the test.
 */
@SuppressWarnings("try") // closing waits for an end, which may be interrupted
public final class Host implements AutoCloseable {
    private static final long GONE_WITHIN_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** Those that a run that is ended by a signal has to remove. */
    private static final Set<Host> LIVING = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(Host::removeAll));
    }

    private final String name;

    private Host(String name) {
        this.name = name;
    }

    /** Makes a host. {@code name} needs to be unique in this run. */
    static Host make(String name) throws IOException, InterruptedException {
        Host host = new Host("rdma4j-faults-" + ProcessHandle.current().pid() + "-" + name);
        Command.run(List.of("ip", "netns", "add", host.name));
        LIVING.add(host);
        for (String which : List.of("all", "default")) {
            // Addresses work at once: no duplicate address detection.
            host.run("sysctl", "-qw", "net.ipv6.conf." + which + ".accept_dad=0");
        }
        host.run("ip", "link", "set", "lo", "up");
        return host;
    }

    /** Name of the namespace. */
    public String name() {
        return name;
    }

    /** What goes before a command for it to run on this host. */
    public List<String> prefix() {
        return List.of("ip", "netns", "exec", name);
    }

    /**
     * Runs a program of the system on this host, to its end.
     *
     * @return what it printed
     * @throws IOException if it fails; the message has what it said
     */
    public String run(String... words) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(prefix());
        command.addAll(List.of(words));
        return Command.run(command);
    }

    /** Gives rules to nft on this host. */
    void rules(String rules) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(prefix());
        command.addAll(List.of("nft", "-f", "-"));
        Command.run(command, rules);
    }

    private static void removeAll() {
        for (Host host : LIVING) {
            try {
                host.close();
            } catch (IOException e) {
                System.err.println(e.getMessage());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public void close() throws IOException, InterruptedException {
        if (!LIVING.remove(this)) {
            return;
        }
        long deadline = System.nanoTime() + GONE_WITHIN_NANOS;
        while (System.nanoTime() < deadline) {
            String processes = Command.run(List.of("ip", "netns", "pids", name)).strip();
            if (processes.isEmpty()) {
                break;
            }
            for (String process : processes.split("\\s+", -1)) {
                ProcessHandle.of(Long.parseLong(process)).ifPresent(ProcessHandle::destroyForcibly);
            }
            Thread.sleep(20);
        }
        Command.run(List.of("ip", "netns", "delete", name));
    }
}
