package io.rdma4j.sockets.datagram;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares a group of peers with a simple implementation by a list. */
class PeerGroupTest {
    private static final int MAX = 20;

    private final PeerGroup group = new PeerGroup(MAX);

    /** The peers, the least recently used first. */
    private final List<DatagramPeer> model = new ArrayList<>();

    /** The operation in which each host was last used, or gained or lost a peer. */
    private final Map<DatagramAddress, Integer> times = new HashMap<>();

    private int time;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void newPeerDisplacesTheLeastRecentlyUsedPeerOfTheLargestHost(long seed) {
        Random random = new Random(seed);
        for (int i = 0; i < 20_000; i++) {
            DatagramAddress address = DatagramSide.ipv4(random.nextInt(8), 1 + random.nextInt(6));
            DatagramPeer known = group.find(address);
            if (known == null) {
                add(new DatagramPeer(address));
            } else if (random.nextInt(10) == 0) {
                group.remove(known);
                model.remove(known);
                times.put(known.host(), ++time);
            } else {
                group.use(known);
                model.remove(known);
                model.add(known);
                times.put(known.host(), ++time);
            }
            assertThat(group.size()).as("seed %d, step %d", seed, i).isEqualTo(model.size());
            assertThat(model)
                    .as("seed %d, step %d", seed, i)
                    .allSatisfy(peer -> assertThat(group.find(peer.address())).isSameAs(peer));
        }
        group.clear();
        assertThat(group.size()).isZero();
        assertThat(model).allSatisfy(peer -> assertThat(peer.group()).isNull());
    }

    private void add(DatagramPeer peer) {
        if (model.size() == MAX) {
            Map<DatagramAddress, Integer> counts = new HashMap<>();
            model.forEach(each -> counts.merge(each.host(), 1, Integer::sum));
            int largest =
                    counts.values().stream().mapToInt(Integer::intValue).max().orElseThrow();
            DatagramAddress host = counts.entrySet().stream()
                    .filter(each -> each.getValue() == largest)
                    .map(Map.Entry::getKey)
                    .min(Comparator.comparing(each -> times.getOrDefault(each, 0)))
                    .orElseThrow();
            DatagramPeer displaced = model.stream()
                    .filter(each -> each.host().equals(host))
                    .findFirst()
                    .orElseThrow();
            model.remove(displaced);
            times.put(host, ++time);
        }
        group.add(peer);
        model.add(peer);
        times.put(peer.host(), ++time);
    }
}
