package io.rdma4j.soft.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.link.host.InterfaceMonitor;
import io.rdma4j.soft.SoftStack;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.DeviceContext;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An Error while the network interfaces are listed ends one scan, but not the scanning thread. */
@Timeout(60)
class FailingInterfacesTest {
    private final CountDownLatch again = new CountDownLatch(2);

    /** A monitor that constantly reports a change. */
    private static final class Changes implements InterfaceMonitor {
        @Override
        public boolean await(long timeoutNanos) {
            LockSupport.parkNanos(1_000_000);
            return true;
        }

        @Override
        public void close() {}
    }

    /** Returns settings with the network of this host, which fails once in the thread with the given name. */
    private StackSettings failingIn(String thread) {
        AtomicInteger calls = new AtomicInteger();
        return ObservedHost.settings((method, _) -> {
            if (method.equals("openInterfaceMonitor")) {
                return new Changes();
            }
            if (method.equals("interfaces") && Thread.currentThread().getName().equals(thread)) {
                again.countDown();
                if (calls.getAndIncrement() == 0) {
                    throw new OutOfMemoryError("on purpose");
                }
            }
            return null;
        });
    }

    @Test
    void interfacesAreScannedAfterAnError() throws InterruptedException {
        try (SoftStack stack = StackAccess.create(SoftStack.class, failingIn("rdma4j-interfaces"));
                DeviceContext context = stack.devices().getFirst().open()) {
            again.await();
            assertThat(context.gids(1)).isNotEmpty();
        }
    }

    @Test
    void addressesOfAWildcardListenerAreScannedAfterAnError() throws InterruptedException {
        try (SoftStack stack = StackAccess.create(SoftStack.class, failingIn("rdma4j-addresses"));
                EventChannel channel = stack.connectionManager().openEventChannel();
                CmId listener = channel.createId(PortSpace.TCP)) {
            listener.bindAddress(new InetSocketAddress(InetAddress.ofLiteral("0.0.0.0"), 0));
            listener.listen(1);
            again.await();
        }
    }
}
