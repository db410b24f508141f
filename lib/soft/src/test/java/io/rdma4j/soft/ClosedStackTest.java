package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.cm.spi.ManagerAccess;
import io.rdma4j.soft.device.StackAccess;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.WaitSet;
import io.rdma4j.verbs.wait.Signal;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Closing a stack ends all waits for its objects, and later calls for them, with one exception. */
@Timeout(60)
class ClosedStackTest {
    private static final Duration AGES = Duration.ofDays(1);

    private final SoftStack stack = SoftStack.create();
    private final SoftStack other = SoftStack.create();

    @AfterEach
    void close() {
        stack.close();
        other.close();
    }

    /** A call that waits for something that never occurs. */
    enum Wait {
        REQUEST_OF_SYNCHRONOUS_IDENTIFIER {
            @Override
            Runnable call(SoftStack stack, SoftStack other) {
                return listening(stack.connectionManager().createId(PortSpace.TCP))::getRequest;
            }
        },
        EVENT {
            @Override
            Runnable call(SoftStack stack, SoftStack other) {
                EventChannel channel = stack.connectionManager().openEventChannel();
                listening(channel.createId(PortSpace.TCP));
                return channel::await;
            }
        },
        EVENT_WITH_TIMEOUT {
            @Override
            Runnable call(SoftStack stack, SoftStack other) {
                EventChannel channel = stack.connectionManager().openEventChannel();
                listening(channel.createId(PortSpace.TCP));
                return () -> channel.await(AGES);
            }
        },
        EVENT_BEFORE_THE_FIRST_IDENTIFIER {
            @Override
            Runnable call(SoftStack stack, SoftStack other) {
                return stack.connectionManager().openEventChannel()::await;
            }
        },
        COMPLETION {
            @Override
            Runnable call(SoftStack stack, SoftStack other) {
                return opened(stack).createCompletionChannel()::await;
            }
        },
        ASYNCHRONOUS_EVENT {
            @Override
            Runnable call(SoftStack stack, SoftStack other) {
                DeviceContext context = opened(stack);
                return () -> context.takeAsyncEvent(AGES);
            }
        },
        ANY_OF_TWO_STACKS {
            @Override
            Runnable call(SoftStack stack, SoftStack other) {
                EventChannel channel = stack.connectionManager().openEventChannel();
                CompletionChannel completions = opened(other).createCompletionChannel();
                listening(channel.createId(PortSpace.TCP));
                WaitSet set = WaitSet.of(completions, channel);
                return () -> {
                    assertThat(set.await()).containsExactly(channel);
                    channel.poll();
                };
            }
        },
        CONDITION_OF_THE_ENGINE {
            @Override
            Runnable call(SoftStack stack, SoftStack other) {
                var engine = StackAccess.devices(stack).engine();
                return () -> new Signal().await(engine, () -> false, Long.MAX_VALUE);
            }
        };

        /** Creates the objects, and returns the call that waits for one of them. */
        abstract Runnable call(SoftStack stack, SoftStack other);

        private static CmId listening(CmId id) {
            id.bindAddress(new InetSocketAddress(TestAddresses.loopback(), 0));
            id.listen(1);
            return id;
        }

        private static DeviceContext opened(SoftStack stack) {
            return stack.devices().getFirst().open();
        }
    }

    private static AtomicReference<@Nullable Throwable> end(Thread.Builder builder, Runnable wait, Runnable close)
            throws InterruptedException {
        AtomicReference<@Nullable Throwable> thrown = new AtomicReference<>();
        CountDownLatch begun = new CountDownLatch(1);
        Thread waiting = builder.start(() -> {
            begun.countDown();
            try {
                wait.run();
            } catch (RuntimeException | Error e) {
                thrown.set(e);
            }
        });
        begun.await();
        // Usually the thread waits before the close; a thread that waits in the kernel is RUNNABLE.
        for (int i = 0; i < 50 && waiting.getState() == Thread.State.RUNNABLE; i++) {
            Thread.sleep(1);
        }
        close.run();
        waiting.join();
        return thrown;
    }

    @ParameterizedTest
    @EnumSource
    void aPlatformThreadStopsWaiting(Wait wait) throws InterruptedException {
        Runnable call = wait.call(stack, other);
        assertThat(end(Thread.ofPlatform(), call, stack::close)).hasValueSatisfying(ClosedStackTest::isClosed);
    }

    @ParameterizedTest
    @EnumSource
    void aVirtualThreadStopsWaiting(Wait wait) throws InterruptedException {
        Runnable call = wait.call(stack, other);
        assertThat(end(Thread.ofVirtual(), call, stack::close)).hasValueSatisfying(ClosedStackTest::isClosed);
    }

    private static void isClosed(@Nullable Throwable thrown) {
        assertThat(thrown).isInstanceOf(ClosedException.class).hasMessageContaining("is closed");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void laterCallsAreRefusedButObjectsCanBeClosed(boolean isUsed) {
        ConnectionManager manager = stack.connectionManager();
        EventChannel channel = manager.openEventChannel();
        CmId idle = channel.createId(PortSpace.TCP);
        CmId bound = channel.createId(PortSpace.TCP);
        if (isUsed) {
            bound.bindAddress(new InetSocketAddress(TestAddresses.loopback(), 0));
        }
        stack.close();
        assertThatThrownBy(manager::openEventChannel).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> manager.createId(PortSpace.TCP)).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> channel.createId(PortSpace.TCP)).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> idle.bindAddress(new InetSocketAddress(TestAddresses.loopback(), 0)))
                .isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> bound.listen(1)).isInstanceOf(ClosedException.class);
        assertThatThrownBy(channel::poll).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> channel.await(Duration.ofMillis(1))).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> WaitSet.of(channel).await().forEach(each -> channel.poll()))
                .isInstanceOf(ClosedException.class);
        idle.close();
        bound.close();
        channel.close();
    }

    @Test
    void theProviderCreatesNoIdentifierAfterwards() {
        stack.close();
        assertThatThrownBy(() -> ManagerAccess.managerOf(ManagerAccess.providerOf(stack.connectionManager()))
                        .createId(PortSpace.TCP)
                        .bindAddress(new InetSocketAddress(TestAddresses.loopback(), 0)))
                .isInstanceOf(ClosedException.class)
                .hasMessageContaining("the stack is closed");
    }
}
