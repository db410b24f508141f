package io.rdma4j.exec.verbs;

import io.rdma4j.exec.bridge.Arguments;
import io.rdma4j.exec.bridge.Failures;
import io.rdma4j.exec.bridge.Handles;
import io.rdma4j.value.Gid;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.abi.Fields;
import io.rdma4j.verbs.abi.Flags;
import io.rdma4j.verbs.abi.Native;
import io.rdma4j.verbs.abi.QueuePairCodec;
import io.rdma4j.verbs.abi.QueuePairMask;
import io.rdma4j.verbs.abi.VerbsStructures.Capabilities;
import io.rdma4j.verbs.abi.VerbsStructures.QueuePairAttributeFields;
import io.rdma4j.verbs.abi.VerbsStructures.ScatterGather;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** The calls for queue pairs. Each takes the address of its {@link Arguments}. Thread safe. */
public final class QueuePairCalls {
    private static final String CREATE = "ibv_create_qp";
    private static final int GID_BYTES = 16;

    private QueuePairCalls() {}

    /** Creates a queue pair. C: {@code ibv_create_qp_ex}. */
    public static void create(long arguments) {
        QueuePairType type = type(Arguments.number(arguments, 1));
        PostedQueuePair queuePair =
                type == QueuePairType.XRC_RECEIVE ? createTarget(arguments) : createPosted(arguments, type);
        DataPathStubs.install();
        QueuePairCodec.write(sizes(arguments), 0, queuePair.queuePair().capabilities());
        Arguments.set(arguments, 0, Handles.add(queuePair));
        Arguments.set(arguments, 1, queuePair.queuePair().number());
    }

    private static QueuePairType type(int code) {
        return QueuePairType.ofCode(code)
                .orElseThrow(() -> Failures.unsupported(CREATE, "a queue pair of type " + code));
    }

    private static MemorySegment sizes(long arguments) {
        return Native.segment(Arguments.get(arguments, 5), Capabilities.BYTES);
    }

    private static PostedQueuePair createPosted(long arguments, QueuePairType type) {
        Domain domain = Handles.of(Arguments.number(arguments, 0), Domain.class);
        CompletionQueue send = completions(arguments, 2);
        CompletionQueue receive = completions(arguments, 3);
        QueuePairCapabilities sizes =
                withInlineRoom(QueuePairCodec.readCapabilities(sizes(arguments), 0), domain.device());
        QueuePairInitAttributes attributes = new QueuePairInitAttributes(
                type,
                required(send, receive),
                required(receive, send),
                sizes,
                Arguments.get(arguments, 6) != 0,
                Arguments.get(arguments, 7),
                sharedReceives(arguments),
                null,
                blocksLoopback(Arguments.number(arguments, 9)));
        return new PostedQueuePair(domain.device(), domain.domain().createQueuePair(attributes), domain);
    }

    /**
     * Returns sizes with at least as much inline data as the scatter-gather entries occupy in a request. The drivers of
     * cards and of {@code rdma_rxe} also provide that, and some programs rely on it.
     */
    private static QueuePairCapabilities withInlineRoom(QueuePairCapabilities sizes, OpenDevice device) {
        int room = Math.min(
                sizes.maxSendScatterGather(), device.context().attributes().maxInlineBytes() / ScatterGather.BYTES);
        return new QueuePairCapabilities(
                sizes.maxSendWorkRequests(),
                sizes.maxReceiveWorkRequests(),
                sizes.maxSendScatterGather(),
                sizes.maxReceiveScatterGather(),
                Math.max(sizes.maxInlineBytes(), room * ScatterGather.BYTES));
    }

    private static @Nullable CompletionQueue completions(long arguments, int index) {
        int handle = Arguments.number(arguments, index);
        return handle == 0 ? null : Handles.of(handle, Completions.class).queue();
    }

    /** Returns the completion queue of a direction, or the other queue if C has omitted it for an unused direction. */
    private static CompletionQueue required(@Nullable CompletionQueue queue, @Nullable CompletionQueue other) {
        if (queue != null) {
            return queue;
        }
        if (other != null) {
            return other;
        }
        throw Failures.invalid(CREATE, "no completion queue");
    }

    private static @Nullable SharedReceiveQueue sharedReceives(long arguments) {
        int handle = Arguments.number(arguments, 4);
        return handle == 0 ? null : Handles.of(handle, SharedReceives.class).queue();
    }

    private static boolean blocksLoopback(int flags) {
        if ((flags & ~Flags.BLOCK_MULTICAST_LOOPBACK) != 0) {
            throw Failures.unsupported(CREATE, "flags " + flags);
        }
        return flags != 0;
    }

    private static PostedQueuePair createTarget(long arguments) {
        int handle = Arguments.number(arguments, 8);
        if (!(Handles.find(handle) instanceof ExtendedDomain extended)) {
            throw Failures.invalid(CREATE, "the target of an extended connection needs an XRC domain");
        }
        OpenDevice device = extended.device();
        QueuePairInitAttributes attributes = QueuePairInitAttributes.extendedReceive(
                        extended.domain(), device.targetCompletions())
                .withContext(Arguments.get(arguments, 7));
        return new PostedQueuePair(device, device.targetDomain().createQueuePair(attributes), null);
    }

    private static PostedQueuePair posted(long arguments) {
        return Handles.of(Arguments.number(arguments, 0), PostedQueuePair.class);
    }

    private static QueuePair queuePair(long arguments) {
        return posted(arguments).queuePair();
    }

    /** Changes attributes. C: {@code ibv_modify_qp}. */
    public static void modify(long arguments) {
        PostedQueuePair posted = posted(arguments);
        int mask = usedMask(posted.queuePair().type(), Arguments.number(arguments, 2));
        QueuePairChange change = new QueuePairChange(Arguments.get(arguments, 1));
        QueuePairAttributes attributes = change.read(mask);
        if (attributes.state() == QueuePairState.READY_TO_RECEIVE) {
            WarmUp.awaitEnd();
        }
        if (!attributes.present().isEmpty()) {
            posted.queuePair().modify(attributes);
        }
        if ((mask & QueuePairChange.RATE_LIMIT) != 0) {
            posted.queuePair().setRateLimit(change.rateLimit());
        }
    }

    /**
     * Returns a mask without the attributes that only the peer's end of an extended connection has. Programs set all
     * attributes of a reliable connection, and the kernel ignores those that an initiator or a target does not have.
     */
    private static int usedMask(QueuePairType type, int mask) {
        return switch (type) {
            case XRC_SEND -> mask & ~(QueuePairMask.MAX_DESTINATION_READ_ATOMIC | QueuePairMask.MIN_RNR_TIMER);
            case XRC_RECEIVE ->
                mask & ~(QueuePairMask.MAX_READ_ATOMIC | QueuePairMask.RETRY_COUNT | QueuePairMask.RNR_RETRY);
            default -> mask;
        };
    }

    /** Returns all attributes. C: {@code ibv_query_qp}. */
    public static void query(long arguments) {
        QueuePair queuePair = queuePair(arguments);
        MemorySegment target = Native.segment(Arguments.get(arguments, 1), QueuePairAttributeFields.BYTES);
        QueuePairAttributes attributes = queuePair.query();
        QueuePairCodec.write(target, attributes);
        QueuePairCodec.write(target, QueuePairAttributeFields.CAPABILITIES, queuePair.capabilities());
        Native.putInt(
                Arguments.get(arguments, 1) + QueuePairAttributeFields.CURRENT_STATE,
                attributes.state().code());
        Native.putByte(Arguments.get(arguments, 1) + QueuePairAttributeFields.IS_DRAINING, (byte)
                (attributes.isDraining() ? 1 : 0));
        Arguments.set(arguments, 2, attributes.state().code());
    }

    /** Attaches to a multicast group or detaches from it. C: {@code ibv_attach_mcast}, {@code ibv_detach_mcast}. */
    public static void attachMulticast(long arguments) {
        Gid group = Fields.gidAt(Native.segment(Arguments.get(arguments, 1), GID_BYTES), 0);
        if (Arguments.get(arguments, 2) != 0) {
            queuePair(arguments).attachMulticast(group);
        } else {
            queuePair(arguments).detachMulticast(group);
        }
    }

    /** Limits the rate of sends. C: {@code ibv_modify_qp_rate_limit}. */
    public static void setRateLimit(long arguments) {
        queuePair(arguments).setRateLimit(Arguments.get(arguments, 1));
    }
}
