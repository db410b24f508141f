package io.rdma4j.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * A host: a network namespace with a loopback interface. Closing it kills its processes and removes the namespace. Used
 * by the thread of the test.
 */
@SuppressWarnings("try") // closing may throw InterruptedException
public final class Host implements AutoCloseable {
    private static final String PREFIX = "rdma4j-check-";
    private static final long EXIT_LIMIT_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** Hosts that are removed if the run is terminated by a signal. */
    private static final Set<Host> OPEN = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(Host::removeAll));
    }

    private final String name;

    private Host(String name) {
        this.name = name;
    }

    /** Creates a host. {@code name} must be unique in this process. */
    public static Host create(String name) throws IOException, InterruptedException {
        Host host = of(ProcessHandle.current().pid(), name);
        Command.run(List.of("ip", "netns", "add", host.name));
        OPEN.add(host);
        for (String scope : List.of("all", "default")) {
            // Disables duplicate address detection, so that addresses are usable immediately. There is no router.
            String prefix = "net.ipv6.conf." + scope;
            host.run("sysctl", "-qw", prefix + ".accept_dad=0", prefix + ".router_solicitations=0");
        }
        host.run("ip", "link", "set", "lo", "up");
        return host;
    }

    /** Returns a host that another process has created; closing it does nothing. */
    public static Host of(long pid, String name) {
        return new Host(PREFIX + pid + "-" + name);
    }

    /** Returns the name of the namespace. */
    public String name() {
        return name;
    }

    /** Returns the command prefix that runs a command on this host. */
    public List<String> prefix() {
        return List.of("ip", "netns", "exec", name);
    }

    /**
     * Runs a system program on this host until it exits.
     *
     * @return its output
     * @throws IOException if the program fails; the message contains its output
     */
    public String run(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(prefix());
        command.addAll(List.of(arguments));
        return Command.run(command);
    }

    /** Applies rules by nft on this host. */
    public void rules(String rules) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(prefix());
        command.addAll(List.of("nft", "-f", "-"));
        Command.run(command, rules);
    }

    /** Removes the hosts that a killed process has left: each name has the ID of its process. */
    public static void removeStale() throws IOException, InterruptedException {
        for (String line : Command.run(List.of("ip", "netns", "list")).lines().toList()) {
            String namespace = line.split(" ", -1)[0];
            if (namespace.startsWith(PREFIX)) {
                String owner = namespace.substring(PREFIX.length()).replaceFirst("-.*", "");
                if (ProcessHandle.of(Long.parseLong(owner)).isEmpty()) {
                    delete(namespace);
                }
            }
        }
    }

    private static void removeAll() {
        for (Host host : OPEN) {
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
        if (!OPEN.remove(this)) {
            return;
        }
        delete(name);
    }

    /** Kills the processes of a namespace and removes it. Another run may remove it at the same time. */
    private static void delete(String namespace) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + EXIT_LIMIT_NANOS;
        try {
            while (System.nanoTime() < deadline) {
                String processes =
                        Command.run(List.of("ip", "netns", "pids", namespace)).strip();
                if (processes.isEmpty()) {
                    break;
                }
                for (String process : processes.split("\\s+", -1)) {
                    ProcessHandle.of(Long.parseLong(process)).ifPresent(ProcessHandle::destroyForcibly);
                }
                Thread.sleep(20);
            }
            Command.run(List.of("ip", "netns", "delete", namespace));
        } catch (IOException failed) {
            if (exists(namespace)) {
                throw failed;
            }
        }
    }

    private static boolean exists(String namespace) {
        return Files.exists(Path.of("/run/netns", namespace));
    }
}
