package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.link.decorator.LinkOptions;
import io.rdma4j.link.memory.MemoryNetwork;
import io.rdma4j.soft.device.StackSettings;
import io.rdma4j.soft.engine.Engine;
import io.rdma4j.soft.host.SingleInterfaceNetwork;
import io.rdma4j.soft.host.StackClock;
import io.rdma4j.soft.host.StackDriver;
import io.rdma4j.soft.options.SecurityOptions;
import io.rdma4j.soft.sharing.RunDirectory;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.wire.Bth;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** A host that needs milliseconds for a few packets, as in the interpreter or while other programs use the processors. */
class SlowHostTest {
    private static final int MTU_BYTES = 4500;

    private static final int ACKNOWLEDGEMENT = 0x11;

    private final MemoryNetwork network = new MemoryNetwork(MTU_BYTES);
    private final SlowTime time = new SlowTime();
    private final List<SoftStack> stacks = new ArrayList<>();

    /** A time of which two milliseconds pass whenever it is read. */
    private final class SlowTime implements StackClock, StackDriver {
        private long nowNanos;

        @Override
        public long nanoTime() {
            nowNanos += 2_000_000;
            return nowNanos;
        }

        @Override
        public long epochNanos() {
            return nowNanos;
        }

        @Override
        public void step(long limitNanos) {
            for (SoftStack stack : stacks) {
                stack.internals().runningEngineList().forEach(Engine::poll);
            }
        }
    }

    /**
     * The peer repeats its packets while it waits for an acknowledgement, and ends the connection if that does not come in time.
     */
    @Test
    void packetsAreAcknowledgedBeforeAllOfThemAreProcessed() {
        try (TestEndpoint receiver = endpoint("receiver", "10.0.0.1");
                TestEndpoint sender = endpoint("sender", "10.0.0.2")) {
            TestEndpoint.connect(receiver, sender);
            List<Integer> opcodes = new ArrayList<>();
            network.observe(frame -> opcodes.add(Bth.opcode(frame.segment, frame.offset)));
            SendWorkRequest write = SendWorkRequest.write(1, sender.region, receiver.region.remote());
            sender.queuePair.postSend(write);
            receiver.completions.poll(new WorkCompletion[0]);
            receiver.completions.poll(new WorkCompletion[0]);
            assertThat(opcodes).filteredOn(opcode -> opcode == ACKNOWLEDGEMENT).hasSizeGreaterThan(1);
        } finally {
            stacks.forEach(SoftStack::close);
        }
    }

    private TestEndpoint endpoint(String name, String addressText) {
        InetAddress address = InetAddress.ofLiteral(addressText);
        RunDirectory directory = RunDirectory.ofVirtualHost(name);
        SoftStack stack = new SoftStack(new StackSettings(
                () -> LinkOptions.NONE,
                () -> SecurityOptions.DEFAULT,
                network::newLinkSet,
                () -> directory,
                new SingleInterfaceNetwork("eth0", address, MTU_BYTES),
                time,
                time,
                new Random(1)));
        stacks.add(stack);
        return new TestEndpoint(stack.deviceOf(address).orElseThrow().open(), address);
    }
}
