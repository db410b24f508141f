package io.rdma4j.acceptance.cases;

import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.hosts.RoutedHosts;
import io.rdma4j.acceptance.process.Child;
import io.rdma4j.acceptance.process.Parent;
import io.rdma4j.acceptance.process.Role;
import io.rdma4j.acceptance.traffic.VerbsSide;
import io.rdma4j.acceptance.traffic.VerbsSide.RetryParameters;
import io.rdma4j.harness.Host;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.wire.FlowLabel;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Queue pairs of two hosts behind a router with two paths. Each queue pair sends, in both directions, from the UDP source port that
 * Linux computes from its numbers, and both paths carry traffic. Hop limit and flow label of an address vector reach the packets.
 */
public final class PathsOfNetwork implements AcceptanceTest.Body {
    private static final int QUEUE_PAIRS = 16;
    private static final int BYTES = 4096;
    private static final int FLOW_LABEL = 0x5_4321;

    /** One more than the hop limit behind the router. */
    private static final int HOP_LIMIT = 20;

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final RetryParameters RETRIES = new RetryParameters(16, 7, 7, 1);

    @Override
    public String required(Scale scale) {
        return QUEUE_PAIRS
                + " queue pairs: the source ports of Linux in both directions, both paths of a router carry traffic; hop"
                + " limit and flow label as set";
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        RoutedHosts hosts = stage.keep(RoutedHosts.create());
        List<Integer> expected = new ArrayList<>(exchange(stage, hosts, RoutedHosts.LEFT, RoutedHosts.RIGHT));
        List<Long> packets = hosts.packetsOfPaths();
        boolean arePortsRight =
                expected.equals(hosts.sourcePortsToRight()) && expected.equals(hosts.sourcePortsToLeft());
        boolean areHopsRight = expected.equals(hosts.sourcePortsWithNineteenHops());
        expected.addAll(exchange(stage, hosts, RoutedHosts.LEFT_IPV6, RoutedHosts.RIGHT_IPV6));
        List<Integer> all = List.copyOf(new TreeSet<>(expected));
        boolean areIpv6Right = all.equals(hosts.sourcePortsToRight())
                && all.equals(hosts.sourcePortsToLeft())
                && all.equals(hosts.sourcePortsWithNineteenHops());
        List<Integer> labels = hosts.flowLabels();
        stage.note("expected " + all + " to right " + hosts.sourcePortsToRight() + " to left "
                + hosts.sourcePortsToLeft() + " hops " + hosts.sourcePortsWithNineteenHops() + " labels " + labels);
        boolean areLabelsRight = labels.equals(
                IntStream.range(FLOW_LABEL, FLOW_LABEL + QUEUE_PAIRS).boxed().toList());
        boolean areBothUsed = packets.stream().allMatch(count -> count > 0);
        return Outcome.of(
                arePortsRight && areHopsRight && areIpv6Right && areBothUsed && areLabelsRight,
                "%d source ports, %s packets by the paths, %d flow labels%s%s%s%s"
                        .formatted(
                                all.size(),
                                packets.stream().map(String::valueOf).collect(Collectors.joining(" and ")),
                                labels.size(),
                                arePortsRight ? "" : ", UNEXPECTED PORTS",
                                areHopsRight ? "" : ", UNEXPECTED HOP LIMITS",
                                areIpv6Right ? "" : ", OTHERS over IPv6",
                                areLabelsRight ? "" : ", UNEXPECTED FLOW LABELS"));
    }

    /** Writes over each queue pair, and returns the source ports that Linux uses for their numbers. */
    private static List<Integer> exchange(TestStage stage, RoutedHosts hosts, String from, String to) throws Exception {
        String family = from.contains(":") ? "6" : "4";
        Child right = start(stage, "right" + family, hosts.right(), to, from);
        Child left = start(stage, "left" + family, hosts.left(), from, to);
        String ofRight = right.await("numbers", LIMIT).asText();
        String ofLeft = left.await("numbers", LIMIT).asText();
        right.sendLine(ofLeft);
        left.sendLine(ofRight);
        left.sendLine(right.await("memory", LIMIT).asText());
        right.sendLine(left.await("memory", LIMIT).asText());
        left.ask("write", "written", LIMIT);
        right.ask("write", "written", LIMIT);
        List<Integer> a = numbers(ofLeft);
        List<Integer> b = numbers(ofRight);
        boolean hasLabel = family.equals("6");
        return IntStream.range(0, QUEUE_PAIRS)
                .map(i -> hasLabel ? FLOW_LABEL + i : FlowLabel.ofQueuePairs(a.get(i), b.get(i)))
                .map(FlowLabel::sourcePort)
                .sorted()
                .distinct()
                .boxed()
                .toList();
    }

    private static Child start(TestStage stage, String name, Host host, String local, String peer)
            throws IOException, InterruptedException {
        return Child.builder(stage, name, End.class)
                .on(host)
                .with("local", local)
                .with("peer", peer)
                .start();
    }

    private static List<Integer> numbers(String text) {
        return Arrays.stream(text.split(",", -1)).map(Integer::valueOf).toList();
    }

    /** A process with an end of each queue pair. */
    public static final class End implements Role {
        @Override
        public void run(Parent parent) throws IOException {
            InetAddress peer = InetAddress.ofLiteral(parent.text("peer", ""));
            try (Arena arena = Arena.ofShared();
                    VerbsSide side = new VerbsSide(InetAddress.ofLiteral(parent.text("local", "")), QUEUE_PAIRS, 0)) {
                MemoryRegion region = side.domain().register(arena.allocate(BYTES, 4096), VerbsSide.ALL);
                List<QueuePair> queuePairs = new ArrayList<>();
                for (int i = 0; i < QUEUE_PAIRS; i++) {
                    queuePairs.add(side.queuePair(4, 4));
                }
                parent.report(
                        "numbers",
                        queuePairs.stream()
                                .map(queuePair -> Integer.toString(queuePair.number()))
                                .collect(Collectors.joining(",")));
                List<Integer> others = numbers(parent.nextCommand());
                for (int i = 0; i < QUEUE_PAIRS; i++) {
                    AddressVector path = side.path(peer).withHopLimit(HOP_LIMIT);
                    side.connect(
                            queuePairs.get(i),
                            peer.getAddress().length == 4 ? path : path.withFlowLabel(FLOW_LABEL + i),
                            others.get(i),
                            RETRIES);
                }
                parent.report("memory", region.address() + "," + region.remoteKey());
                String[] memory = parent.nextCommand().split(",", -1);
                while (parent.nextCommand().equals("write")) {
                    for (QueuePair queuePair : queuePairs) {
                        write(side, queuePair, region, Long.parseLong(memory[0]), Integer.parseInt(memory[1]));
                    }
                    parent.report("written", queuePairs.size());
                }
                region.close();
            }
        }

        private static void write(VerbsSide side, QueuePair queuePair, MemoryRegion region, long address, int key) {
            queuePair.postSend(new SendWorkRequest()
                    .reset(queuePair.number())
                    .from(region)
                    .write(address, key)
                    .signaled());
            WorkCompletion completion = side.await(LIMIT);
            if (!completion.isSuccess()) {
                throw new IllegalStateException(queuePair + ": " + completion);
            }
        }
    }
}
