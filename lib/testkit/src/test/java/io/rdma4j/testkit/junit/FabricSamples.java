package io.rdma4j.testkit.junit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdma4j.soft.SoftStack;
import io.rdma4j.testkit.ConnectedPair;
import io.rdma4j.testkit.TestHost;
import io.rdma4j.testkit.TestNetwork;
import io.rdma4j.testkit.VirtualTime;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import java.lang.foreign.Arena;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Test classes that {@link FabricOutcomesTest} runs; most of their tests fail. */
final class FabricSamples {
    private FabricSamples() {}

    @RdmaFabric
    static class Passing {
        @Test
        void passes(ConnectedPair pair) {
            assertThat(RdmaFabricTest.write(pair, "passes")).isEqualTo("passes");
        }
    }

    @RdmaFabric(
            hosts = {"left", "right"},
            loss = "5%",
            time = FabricTime.VIRTUAL)
    static class Failing {
        @Test
        void fails(ConnectedPair pair) {
            for (int i = 0; i < 10; i++) {
                var _ = RdmaFabricTest.write(pair, "round " + i);
            }
            fail("on purpose");
        }
    }

    @RdmaFabric
    static class Aborted {
        @Test
        void isAborted(ConnectedPair pair) {
            assumeTrue(pair == null);
        }
    }

    @RdmaFabric
    static class LeakingRegion {
        @Test
        void leavesARegion(ConnectedPair pair) {
            ProtectionDomain domain = pair.client().connection().id().protectionDomain();
            domain.register(Arena.ofAuto().allocate(64), AccessFlag.LOCAL_WRITE);
        }
    }

    @RdmaFabric
    static class LeakingQueuePair {
        @Test
        void leavesAQueuePair(Device device) {
            DeviceContext context = device.open();
            context.createProtectionDomain()
                    .createQueuePair(QueuePairInitAttributes.reliable(
                            context.createCompletionQueue(4), new QueuePairCapabilities(1, 1, 1, 1, 0)));
        }
    }

    @RdmaFabric(checkLeaks = false)
    static class LeakingOnPurpose {
        @Test
        void leavesAContext(SoftStack stack, TestHost host) {
            var _ = stack.deviceOf(host.address()).orElseThrow().open();
        }
    }

    @RdmaFabric
    static class LeakingThread {
        static final CountDownLatch END = new CountDownLatch(1);

        @Test
        void leavesAThread() {
            Thread.ofPlatform().daemon().name("left-behind").start(() -> {
                try {
                    END.await();
                } catch (InterruptedException e) {
                    return;
                }
            });
        }

        @Test
        void mayUseThreadsThatEnd() {
            try (ExecutorService pool = Executors.newFixedThreadPool(3)) {
                pool.execute(() -> {});
            }
        }
    }

    @RdmaFabric
    static class WrongParameters {
        @Test
        void thereIsNoThirdHost(TestHost first, TestHost second, TestHost third) {
            fail("not reached");
        }

        @Test
        void thereIsNoHostOfThatName(@Host("server") TestHost host) {
            fail("not reached");
        }

        @Test
        void thereIsNoVirtualTime(VirtualTime time) {
            fail("not reached");
        }

        @Test
        @RdmaFabric(loss = "much")
        void thereIsNoSuchLoss() {
            fail("not reached");
        }

        @Test
        @RdmaFabric(loss = "100%", time = FabricTime.VIRTUAL)
        void nothingArrives(ConnectedPair pair) {
            fail("not reached");
        }
    }

    @RdmaFabric
    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    static class OfSharedInstance {
        OfSharedInstance(TestNetwork network) {}

        @Test
        void isNotReached() {
            fail("not reached");
        }
    }

    /** Tests that run in parallel. */
    @RdmaFabric(loss = "2%", seed = 3)
    static class Parallel {
        @RepeatedTest(12)
        void writes(ConnectedPair pair, TestNetwork network) throws InterruptedException {
            String text = "network " + System.identityHashCode(network);
            Thread user = Thread.ofPlatform()
                    .start(() -> assertThat(RdmaFabricTest.write(pair, text)).isEqualTo(text));
            user.join();
            assertThat(pair.server().memory().getString(0)).isEqualTo(text);
        }
    }
}
