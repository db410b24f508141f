import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.RejectReason;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One side of a connection that is idle, or carries numbered messages both ways, until it ends or its peer is lost.
 *
 * <p>{@code Peer serve|connect ADDRESS PORT [ack=EXPONENT] [seconds=SECONDS] [hold]}. Messages are sent for so many seconds
 * (indefinitely if not given, 0 for none); then the connection is held idle, or the connecting side disconnects. Prints a line
 * for whatever happens, first the wall clock in milliseconds. Ends with 0 after an orderly disconnection, with 3 after the
 * loss of the peer when all that must follow has followed, with 1 if anything else happened.
 */
public final class Peer {
    private static final int LOST = 3;
    private static final int SENDS = 8;
    private static final int RECEIVES = 32;
    private static final int MESSAGE_BYTES = 1024;
    private static final Duration STEP_LIMIT = Duration.ofSeconds(20);
    private static final Duration PACE = Duration.ofMillis(5);
    private static final Duration RETRY_INTERVAL = Duration.ofMillis(200);

    /** Longer than any connection manager waits for the answer to a DREQ. */
    private static final long DISCONNECT_LIMIT_SECONDS = 200;

    private final List<String> words;
    private final EventChannel events = EventChannel.open();
    private final MemorySegment memory = Arena.ofAuto().allocate((long) (SENDS + RECEIVES) * MESSAGE_BYTES, 64);
    private final AtomicBoolean disconnecting = new AtomicBoolean();
    private final CountDownLatch disconnected = new CountDownLatch(1);
    private final SendWorkRequest send = new SendWorkRequest();
    private final ReceiveWorkRequest receive = new ReceiveWorkRequest();

    private CmId listener;
    private CmId id;
    private ProtectionDomain domain;
    private CompletionChannel channel;
    private CompletionQueue completions;
    private MemoryRegion region;
    private QueuePair queuePair;

    private long sent;
    private long received;
    private int sendsUnderWay;
    private int receivesPosted;
    private int flushedSends;
    private int flushedReceives;
    private boolean lost;
    private boolean failed;
    private long nextBurstNanos = System.nanoTime();
    private long lastSuccessNanos;
    private long longestGapNanos;

    private Peer(List<String> words) {
        this.words = words;
    }

    public static void main(String[] words) throws InterruptedException {
        System.exit(new Peer(Arrays.asList(words)).run());
    }

    private int run() throws InterruptedException {
        InetSocketAddress address = new InetSocketAddress(words.get(1), Integer.parseInt(words.get(2)));
        if (words.getFirst().equals("serve")) {
            accept(address);
        } else {
            while (!connect(address)) {
                Thread.sleep(RETRY_INTERVAL);
            }
        }
        say("CONNECTED");
        lastSuccessNanos = System.nanoTime();
        Thread watcher = Thread.ofPlatform().name("events").start(this::watchEvents);
        exchange();
        say((lost ? "FLUSHED" : "DONE") + " sent=" + sent + " received=" + received + " flushed-sends=" + flushedSends
                + " flushed-receives=" + flushedReceives + " longest-gap-ms=" + longestGapNanos / 1_000_000);
        if (lost) {
            disconnect();
        }
        if (!disconnected.await(DISCONNECT_LIMIT_SECONDS, TimeUnit.SECONDS)) {
            fail("no DISCONNECTED event");
            return 1;
        }
        id.destroyQueuePair();
        id.close();
        release();
        if (listener != null) {
            listener.close();
        }
        events.close();
        watcher.join();
        say("CLOSED");
        return failed ? 1 : lost ? LOST : 0;
    }

    private String option(String name, String fallback) {
        return words.stream()
                .filter(word -> word.startsWith(name + "="))
                .map(word -> word.substring(name.length() + 1))
                .findFirst()
                .orElse(fallback);
    }

    private static void say(String text) {
        System.out.println(System.currentTimeMillis() + " " + text);
    }

    private void fail(String text) {
        failed = true;
        say("WRONG " + text);
    }

    // ---- connection

    private void accept(InetSocketAddress address) {
        listener = events.createId(PortSpace.TCP);
        listener.bindAddress(address);
        listener.listen(1);
        say("LISTENING");
        try (CmEvent request = take(CmEvent.Type.CONNECT_REQUEST, Duration.ofDays(1))) {
            id = request.id();
        }
        prepare();
        id.accept(ConnectionParameters.defaults());
        take(CmEvent.Type.ESTABLISHED, STEP_LIMIT).close();
    }

    /** False if the peer does not listen yet. */
    private boolean connect(InetSocketAddress address) {
        id = events.createId(PortSpace.TCP);
        id.resolveAddress(address, STEP_LIMIT);
        take(CmEvent.Type.ADDRESS_RESOLVED, STEP_LIMIT).close();
        id.resolveRoute(STEP_LIMIT);
        take(CmEvent.Type.ROUTE_RESOLVED, STEP_LIMIT).close();
        prepare();
        id.connect(ConnectionParameters.defaults());
        try (CmEvent answer = events.await(STEP_LIMIT)) {
            if (answer != null && answer.type() == CmEvent.Type.ESTABLISHED) {
                return true;
            }
            if (answer == null || answer.status() != RejectReason.INVALID_SERVICE_ID.code()) {
                throw new IllegalStateException("no connection: " + answer);
            }
            say("REFUSED");
        }
        id.destroyQueuePair();
        id.close();
        release();
        return false;
    }

    private CmEvent take(CmEvent.Type type, Duration limit) {
        CmEvent event = events.await(limit);
        if (event == null || event.type() != type) {
            throw new IllegalStateException("expected " + type + ", got " + event);
        }
        return event;
    }

    private void prepare() {
        id.setAckTimeout(Integer.parseInt(option("ack", "19")));
        domain = id.verbs().createProtectionDomain();
        channel = id.verbs().createCompletionChannel();
        completions = id.verbs().createCompletionQueue(SENDS + RECEIVES, channel);
        completions.requestNotification(false);
        region = domain.register(memory, AccessFlag.LOCAL_WRITE);
        queuePair = id.createQueuePair(
                domain,
                QueuePairInitAttributes.reliable(completions, new QueuePairCapabilities(SENDS, RECEIVES, 1, 1, 0)));
        receivesPosted = 0;
        for (int slot = 0; slot < RECEIVES; slot++) {
            postReceive(slot);
        }
    }

    private void release() {
        region.close();
        completions.close();
        channel.close();
        domain.close();
    }

    /**
     * Until the channel is closed. A disconnection is answered, which flushes what is posted; but not by one who is patient:
     * it waits for its oldest send to fail by itself.
     */
    private void watchEvents() {
        try {
            while (true) {
                onEvent(events.await());
            }
        } catch (ClosedException ended) {
            return;
        }
    }

    private void onEvent(CmEvent event) {
        say(event.type() + " status=" + event.status());
        if (event.type() == CmEvent.Type.DISCONNECTED && !words.contains("patient")) {
            disconnect();
        }
        event.acknowledge();
        if (event.type() == CmEvent.Type.DISCONNECTED) {
            disconnected.countDown();
        }
    }

    /** Once, whoever begins. */
    private void disconnect() {
        if (disconnecting.compareAndSet(false, true)) {
            say("DISCONNECTING");
            id.disconnect();
        }
    }

    // ---- messages

    /** Sends and receives until everything that was posted has come back. */
    private void exchange() {
        long seconds = Long.parseLong(option("seconds", "1000000"));
        long endNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        boolean hold = words.contains("hold");
        boolean leaving = false;
        while (sendsUnderWay + receivesPosted > 0) {
            boolean broken = lost || flushedSends + flushedReceives > 0;
            boolean sending = !broken && !leaving && System.nanoTime() - endNanos < 0;
            if (sending && sendsUnderWay == 0 && System.nanoTime() - nextBurstNanos >= 0) {
                postSends();
            } else if (!sending && !hold && !leaving && !broken && sendsUnderWay == 0 && listener == null) {
                leaving = true;
                disconnect();
            }
            CompletionQueue ready = sending ? channel.await(PACE) : channel.await();
            if (ready != null) {
                ready.acknowledgeEvents(1);
                ready.requestNotification(false);
                takeCompletions();
            }
        }
    }

    private void postSends() {
        for (int i = 0; i < SENDS; i++) {
            postSend();
        }
        nextBurstNanos = System.nanoTime() + PACE.toNanos();
    }

    private void postSend() {
        int slot = (int) (sent % SENDS);
        memory.set(ValueLayout.JAVA_LONG, (long) slot * MESSAGE_BYTES, sent);
        queuePair.postSend(send.reset(RECEIVES + slot)
                .from(region, (long) slot * MESSAGE_BYTES, MESSAGE_BYTES)
                .signaled());
        sent++;
        sendsUnderWay++;
    }

    private void postReceive(int slot) {
        queuePair.postReceive(receive.reset(slot).into(region, (long) (SENDS + slot) * MESSAGE_BYTES, MESSAGE_BYTES));
        receivesPosted++;
    }

    private void takeCompletions() {
        WorkCompletion[] batch = WorkCompletion.array(SENDS + RECEIVES);
        int count = completions.poll(batch);
        for (int i = 0; i < count; i++) {
            boolean ofReceive = batch[i].id() < RECEIVES; // a failure has no valid opcode
            if (ofReceive) {
                receivesPosted--;
            } else {
                sendsUnderWay--;
            }
            if (batch[i].isSuccess()) {
                takeSuccess(batch[i], ofReceive);
            } else {
                takeFailure(batch[i].status(), ofReceive);
            }
        }
    }

    private void takeSuccess(WorkCompletion completion, boolean ofReceive) {
        long now = System.nanoTime();
        longestGapNanos = Math.max(longestGapNanos, now - lastSuccessNanos);
        lastSuccessNanos = now;
        if (!ofReceive) {
            return;
        }
        int slot = (int) completion.id();
        long number = memory.get(ValueLayout.JAVA_LONG, (long) (SENDS + slot) * MESSAGE_BYTES);
        if (number != received || completion.byteLength() != MESSAGE_BYTES) {
            fail("message " + number + " of " + completion.byteLength() + " bytes, expected " + received);
        }
        received++;
        postReceive(slot);
    }

    private void takeFailure(CompletionStatus status, boolean ofReceive) {
        if (status == CompletionStatus.WORK_REQUEST_FLUSHED_ERROR) {
            if (ofReceive) {
                flushedReceives++;
            } else {
                flushedSends++;
            }
        } else if (!lost && !ofReceive && status == CompletionStatus.RETRY_EXCEEDED_ERROR) {
            lost = true;
            say("LOST lost=" + status + " after-ms=" + (System.nanoTime() - lastSuccessNanos) / 1_000_000);
        } else {
            fail("completion of a " + (ofReceive ? "receive" : "send") + ": " + status);
        }
    }
}
