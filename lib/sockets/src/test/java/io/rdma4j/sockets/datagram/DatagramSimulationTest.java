package io.rdma4j.sockets.datagram;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.sockets.datagram.DatagramSide.Packet;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Datagram sockets over a network that loses, duplicates and reorders packets. Their processes crash and restart with
 * other queue pairs. The test runs two thousand seeds. The message of a failure contains the seed;
 * {@code -Drdma4j.simulation.seed=N} replays only this seed, and {@code -Drdma4j.simulation.runs=N} sets the number of
 * runs.
 */
class DatagramSimulationTest {
    private static final long RUNS = Long.getLong("rdma4j.simulation.runs", 2_000);

    @Test
    void datagramsArriveAtTheirDestinationAndRestartedPeersAreFound() {
        Long only = Long.getLong("rdma4j.simulation.seed");
        if (only != null) {
            new Run(only).run();
            return;
        }
        long arrived =
                LongStream.range(0, RUNS).map(seed -> new Run(seed).run()).sum();
        assertThat(arrived).as("datagrams that arrived in all runs").isGreaterThan(RUNS * 30);
    }

    /** A datagram as it was sent. */
    private record Sent(int from, int to, int length) {}

    /** One run. */
    private static final class Run {
        private static final int STEPS = 800;
        private static final long SILENCE_NANOS = 2 * DatagramProtocol.CONFIRM_NANOS;
        private static final int TRIES = 3;

        private final long seed;
        private final SplittableRandom random;
        private final List<@Nullable DatagramSide> sides = new ArrayList<>();
        private final List<Packet> inFlight = new ArrayList<>();
        private final Map<Integer, Sent> sent = new HashMap<>();
        private final Map<Integer, Integer> arrived = new HashMap<>();
        private double loss;
        private double doubling;
        private final double death;
        private int nextQueuePair = 0x100;
        private int nextDatagram;
        private long now;

        Run(long seed) {
            this.seed = seed;
            random = new SplittableRandom(seed);
            loss = random.nextBoolean() ? random.nextDouble() * 0.3 : 0;
            doubling = random.nextBoolean() ? random.nextDouble() * 0.1 : 0;
            death = random.nextBoolean() ? 0.01 : 0;
            for (int i = random.nextInt(2, 4); i > 0; i--) {
                sides.add(null);
                start(sides.size() - 1);
            }
        }

        private static DatagramAddress address(int index) {
            return DatagramSide.ipv4(1 + index, 1000 + index);
        }

        private void start(int index) {
            sides.set(index, new DatagramSide(address(index), nextQueuePair++));
        }

        /** Returns the number of datagrams that arrived. */
        int run() {
            for (int step = 0; step < STEPS; step++) {
                now += random.nextInt(20_000_000);
                int index = random.nextInt(sides.size());
                DatagramSide side = sides.get(index);
                if (random.nextDouble() < death) {
                    sides.set(index, null);
                } else if (side == null) {
                    if (random.nextInt(10) == 0) {
                        start(index);
                    }
                } else {
                    act(index, side);
                }
            }
            recover();
            return arrived.values().stream().mapToInt(Integer::intValue).sum();
        }

        private void act(int index, DatagramSide side) {
            switch (random.nextInt(4)) {
                case 0 -> send(index, side, random.nextInt(sides.size()));
                case 1 -> receive(index, side);
                case 2 -> depart(side);
                default -> deliver();
            }
        }

        private int send(int index, DatagramSide side, int to) {
            int number = nextDatagram++;
            byte[] data = datagram(number, random.nextInt(Integer.BYTES, 2000));
            if (side.send(data, address(to), now)) {
                sent.put(number, new Sent(index, to, data.length));
            }
            return number;
        }

        private static byte[] datagram(int number, int length) {
            byte[] data = new byte[length];
            new SplittableRandom(number).nextBytes(data);
            ByteBuffer.wrap(data).putInt(number);
            return data;
        }

        private void receive(int index, DatagramSide side) {
            ByteBuffer target = ByteBuffer.allocate(DatagramSizes.SLOT_BYTES);
            DatagramAddress from = side.protocol.receive(target, false);
            if (from == null) {
                return;
            }
            byte[] data = new byte[target.flip().remaining()];
            target.get(data);
            int number = ByteBuffer.wrap(data).getInt();
            Sent was = sent.get(number);
            assertThat(was).as("seed %d: datagram %d was sent", seed, number).isNotNull();
            if (was != null) {
                assertThat(was.to())
                        .as("seed %d: datagram %d is for it", seed, number)
                        .isEqualTo(index);
                assertThat(from)
                        .as("seed %d: datagram %d contains its sender", seed, number)
                        .isEqualTo(address(was.from()));
                assertThat(data)
                        .as("seed %d: datagram %d is whole", seed, number)
                        .isEqualTo(datagram(number, was.length()));
            }
            assertThat(arrived.merge(number, 1, Integer::sum))
                    .as("seed %d: times that datagram %d arrived", seed, number)
                    .isLessThanOrEqualTo(doubling > 0 ? 2 : 1);
        }

        /** Moves some packets of a socket to the network. */
        private void depart(DatagramSide side) {
            for (int i = random.nextInt(1, 5); i > 0; i--) {
                boolean isMessage = side.packets.isEmpty() || random.nextBoolean();
                Packet packet = isMessage ? side.messages.poll() : side.takePacket();
                if (packet != null && random.nextDouble() >= loss) {
                    inFlight.add(packet);
                    if (random.nextDouble() < doubling) {
                        inFlight.add(packet);
                    }
                }
            }
        }

        private void deliver() {
            for (int i = random.nextInt(1, 5); i > 0 && !inFlight.isEmpty(); i--) {
                arrive(inFlight.remove(random.nextInt(Math.min(inFlight.size(), 8))));
            }
        }

        private void arrive(Packet packet) {
            for (DatagramSide side : sides) {
                if (side != null && side.address.equals(packet.to())) {
                    if (packet.slot() < 0) {
                        side.onMessage(packet, now);
                    } else {
                        side.onPacket(packet, now);
                    }
                }
            }
        }

        /** Stops losses and crashes. After that, every socket must reach every other, and no slot may be lost. */
        private void recover() {
            loss = 0;
            for (int i = 0; i < sides.size(); i++) {
                if (sides.get(i) == null) {
                    start(i);
                }
            }
            settle();
            for (int from = 0; from < sides.size(); from++) {
                for (int to = 0; to < sides.size(); to++) {
                    assertThat(reaches(from, to))
                            .as("seed %d: socket %d reaches %d", seed, from, to)
                            .isTrue();
                }
            }
            for (DatagramSide side : sides) {
                if (side != null) {
                    assertThat(side.receives)
                            .as("seed %d: posted receives", seed)
                            .hasSize(DatagramSide.SLOTS);
                    assertThat(side.protocol.isQuiet())
                            .as("seed %d: quiet", seed)
                            .isTrue();
                    assertThat(side.protocol.canSend())
                            .as("seed %d: can send", seed)
                            .isTrue();
                }
            }
        }

        private boolean reaches(int from, int to) {
            DatagramSide side = sides.get(from);
            for (int i = 0; i < TRIES && side != null; i++) {
                now += SILENCE_NANOS;
                int number = send(from, side, to);
                settle();
                if (arrived.containsKey(number)) {
                    return true;
                }
            }
            return false;
        }

        private void settle() {
            boolean goesOn = true;
            while (goesOn) {
                goesOn = !inFlight.isEmpty();
                deliver();
                for (int i = 0; i < sides.size(); i++) {
                    DatagramSide side = sides.get(i);
                    if (side != null) {
                        goesOn |= !side.packets.isEmpty() || !side.messages.isEmpty() || side.protocol.canReceive();
                        depart(side);
                        receive(i, side);
                    }
                }
            }
        }
    }
}
