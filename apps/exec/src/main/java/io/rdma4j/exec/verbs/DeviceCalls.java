package io.rdma4j.exec.verbs;

import io.rdma4j.exec.bridge.Arguments;
import io.rdma4j.exec.bridge.Failures;
import io.rdma4j.exec.bridge.Handles;
import io.rdma4j.exec.bridge.Readiness;
import io.rdma4j.value.Gid;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.abi.Fields;
import io.rdma4j.verbs.abi.Native;
import io.rdma4j.verbs.abi.PortCodec;
import io.rdma4j.verbs.abi.VerbsStructures.PortFields;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The calls for devices, ports and asynchronous events. Each takes the address of its {@link Arguments}. Thread safe.
 */
public final class DeviceCalls {
    private static final int NAME_BYTES = 64;
    private static final int GID_BYTES = 16;

    /** The devices; C refers to them by their indexes. */
    private static volatile List<Device> devices = List.of();

    private DeviceCalls() {}

    /** Lists the devices again. C: {@code ibv_get_device_list}. */
    public static void count(long arguments) {
        devices = Device.chosen();
        Arguments.set(arguments, 0, devices.size());
    }

    /** Describes a device. */
    public static void describe(long arguments) {
        Device device = device(arguments);
        writeText(Arguments.get(arguments, 1), device.name(), NAME_BYTES);
        Arguments.set(arguments, 2, device.guid());
        Arguments.set(arguments, 3, device.nodeType().code());
        Arguments.set(arguments, 4, device.transportType().code());
    }

    private static Device device(long arguments) {
        List<Device> known = devices;
        int index = Arguments.number(arguments, 0);
        if (index < 0 || index >= known.size()) {
            throw new RdmaException("ibv_open_device", Errno.ENODEV, "index " + index, "");
        }
        return known.get(index);
    }

    static void writeText(long at, String text, int fieldBytes) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(bytes.length, fieldBytes - 1);
        for (int i = 0; i < length; i++) {
            Native.putByte(at + i, bytes[i]);
        }
        Native.putByte(at + length, (byte) 0);
    }

    /** Opens a device. C: {@code ibv_open_device}. */
    public static void open(long arguments) {
        DeviceContext context = Failures.reporting(device(arguments)::open);
        DataPathStubs.setTarget(Arguments.get(arguments, 2));
        WarmUp.begin();
        OpenDevice device = new OpenDevice(context, Arguments.number(arguments, 1), Readiness.EVENT_DESCRIPTORS);
        Arguments.set(arguments, 0, Handles.add(device));
        Arguments.set(arguments, 1, device.context().completionVectors());
    }

    /** Closes an object of any kind. Its handle stays valid if it cannot be closed. */
    public static void close(long arguments) throws Exception {
        int handle = Arguments.number(arguments, 0);
        Handles.of(handle, AutoCloseable.class).close();
        Handles.remove(handle);
    }

    private static DeviceContext context(long arguments) {
        return Handles.of(Arguments.number(arguments, 0), OpenDevice.class).context();
    }

    /** Returns the limits and features of a device. C: {@code ibv_query_device_ex}. */
    public static void query(long arguments) {
        DeviceAttributesWriter.write(
                context(arguments).attributes(), Arguments.get(arguments, 1), Arguments.get(arguments, 2));
    }

    /** Returns the attributes of a port. C: {@code ibv_query_port}. */
    public static void queryPort(long arguments) {
        PortCodec.write(
                Native.segment(Arguments.get(arguments, 2), PortFields.MAX_BYTES),
                context(arguments).port(Arguments.number(arguments, 1)));
    }

    /**
     * Returns an entry of the GID table. C: {@code ibv_query_gid_ex}. Programs read all entries; most of them are
     * empty.
     *
     * @return 0, or {@code ENODATA} if the entry is empty
     */
    public static int queryGid(long arguments) {
        DeviceContext context = context(arguments);
        int port = Arguments.number(arguments, 1);
        int index = Arguments.number(arguments, 2);
        Gid gid = context.gid(port, index);
        Fields.putGid(Native.segment(Arguments.get(arguments, 3), GID_BYTES), 0, gid);
        GidEntry entry = entry(context, port, index);
        if (entry == null) {
            return Errno.ENODATA.number();
        }
        Arguments.set(arguments, 4, entry.networkInterfaceIndex());
        Arguments.set(arguments, 5, entry.type().code());
        return 0;
    }

    /** Returns the entry of the GID table at an index, or null if it is empty. */
    private static @Nullable GidEntry entry(DeviceContext context, int port, int index) {
        for (GidEntry entry : context.gidTable(port)) {
            if (entry.index() == index) {
                return entry;
            }
        }
        return null;
    }

    /** Returns a partition key. C: {@code ibv_query_pkey}. */
    public static void queryPartitionKey(long arguments) {
        int key = context(arguments).partitionKey(Arguments.number(arguments, 1), Arguments.number(arguments, 2));
        Arguments.set(arguments, 0, key);
    }

    // ---- asynchronous events

    /**
     * Takes an asynchronous event, without waiting. C: {@code ibv_get_async_event}.
     *
     * @return 0, or {@code EAGAIN} if there is none
     */
    public static int nextAsyncEvent(long arguments) {
        OpenDevice device = Handles.of(Arguments.number(arguments, 0), OpenDevice.class);
        AsyncEvent event = device.context().takeAsyncEvent(Duration.ZERO);
        device.asyncEvents().update();
        if (event == null) {
            return Errno.EAGAIN.number();
        }
        Arguments.set(arguments, 0, event.type().code());
        Arguments.set(arguments, 1, userPointer(event.source()));
        Arguments.set(arguments, 2, event.port());
        Arguments.set(arguments, 3, Handles.add(event));
        return 0;
    }

    private static long userPointer(Object source) {
        if (source instanceof QueuePair queuePair) {
            return pointer(queuePair.userContext());
        }
        if (source instanceof CompletionQueue queue) {
            return pointer(queue.userContext());
        }
        return source instanceof SharedReceiveQueue queue ? pointer(queue.userContext()) : 0;
    }

    /** Returns the C pointer that an object was created with. */
    static long pointer(@Nullable Object userContext) {
        return userContext instanceof Long pointer ? pointer : 0;
    }

    /** Acknowledges an asynchronous event. C: {@code ibv_ack_async_event}. */
    public static void acknowledgeAsyncEvent(long arguments) {
        int token = Arguments.number(arguments, 1);
        AsyncEvent event = Handles.of(token, AsyncEvent.class);
        Handles.remove(token);
        context(arguments).acknowledge(event);
    }

    /** Returns the wall-clock time of a completion. C: {@code ibv_wc_read_completion_wallclock_ns}. */
    public static void wallClock(long arguments) {
        Arguments.set(arguments, 0, context(arguments).wallClockNanos(Arguments.get(arguments, 1)));
    }

    /** Opens a domain of extended connections. C: {@code ibv_open_xrcd}. */
    public static void openXrcDomain(long arguments) {
        OpenDevice device = Handles.of(Arguments.number(arguments, 0), OpenDevice.class);
        Arguments.set(
                arguments,
                0,
                Handles.add(new ExtendedDomain(device, device.context().openXrcDomain())));
    }
}
