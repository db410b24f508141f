import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.PlacementType;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.Objects;
import java.util.Set;

/**
 * One side of a connection for the cases {@code flush/…}: WRITE, FLUSH, ATOMIC WRITE and READ. {@code checks/interop/c/flush.c} is the
 * counterpart, with the same arguments and the same output.
 *
 * <p>{@code Flush serve|connect ADDRESS PORT [denied]}. The server sends its {@link RemoteMemory} as private data. The client prints
 * the status of each work request; {@code denied} adds a FLUSH with a placement type that the server's memory does not grant.
 */
public final class Flush {
    private static final int BYTES = 4096;
    private static final int FIRST = 8;
    private static final int LENGTH = 3000;
    private static final long VALUE = 0x0102_0304_0506_0708L;
    private static final Set<PlacementType> GLOBAL = Set.of(PlacementType.GLOBAL);
    private static final ConnectionParameters PARAMETERS =
            ConnectionParameters.defaults().withDepths(4, 4);

    private Flush() {}

    /** Runs a side. */
    public static void main(String[] words) {
        boolean isDenied = words.length == 4 && words[3].equals("denied");
        if (words.length != (isDenied ? 4 : 3)) {
            System.err.println("usage: Flush serve|connect ADDRESS PORT [denied]");
            System.exit(2);
        }
        InetSocketAddress address = new InetSocketAddress(words[1], Integer.parseInt(words[2]));
        boolean isRight;
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(BYTES, BYTES);
            isRight = words[0].equals("serve") ? serve(address, memory) : connect(address, memory, isDenied);
        }
        System.out.println("end");
        System.exit(isRight ? 0 : 1);
    }

    private static boolean isSame(MemorySegment memory) {
        boolean isSame = true;
        for (int i = FIRST; i < FIRST + LENGTH; i++) {
            isSame &= memory.get(ValueLayout.JAVA_BYTE, i) == (byte) (i * 31);
        }
        return isSame;
    }

    private static boolean serve(InetSocketAddress address, MemorySegment memory) {
        try (CmId listener = ConnectionManager.ofProcess().listen(address, QueuePairInitAttributes.defaults())) {
            System.out.println("listening");
            try (CmId connection = listener.getRequest();
                    MemoryRegion region = connection
                            .protectionDomain()
                            .register(
                                    memory,
                                    AccessFlag.LOCAL_WRITE,
                                    AccessFlag.REMOTE_WRITE,
                                    AccessFlag.REMOTE_READ,
                                    AccessFlag.FLUSH_GLOBAL)) {
                connection.accept(PARAMETERS.withPrivateData(region.remote().encode()));
                System.out.println("connected");
                connection.awaitDisconnect();
            }
        }
        long value = memory.get(ValueLayout.JAVA_LONG, 0);
        boolean isSame = isSame(memory);
        System.out.printf("value 0x%016x%n%s%n", value, isSame ? "same" : "different");
        return isSame && value == VALUE;
    }

    private static boolean connect(InetSocketAddress address, MemorySegment memory, boolean isDenied) {
        try (CmId connection =
                        ConnectionManager.ofProcess().connect(address, QueuePairInitAttributes.defaults(), PARAMETERS);
                MemoryRegion region = connection.protectionDomain().register(memory, AccessFlag.LOCAL_WRITE)) {
            RemoteMemory remote = RemoteMemory.decode(connection.peerPrivateData());
            System.out.println("connected");
            QueuePair pair = Objects.requireNonNull(connection.queuePair());
            for (int i = 0; i < BYTES; i++) {
                memory.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31));
            }
            RemoteMemory written = remote.slice(FIRST, LENGTH);
            complete(
                    pair,
                    "write",
                    LENGTH,
                    new SendWorkRequest()
                            .reset(1)
                            .write(written.address(), written.key())
                            .from(region, FIRST, LENGTH));
            complete(pair, "flush-range", LENGTH, SendWorkRequest.flush(2, written, GLOBAL));
            complete(pair, "atomic-write", Long.BYTES, SendWorkRequest.atomicWrite(3, remote, VALUE));
            complete(pair, "flush-region", 0, new SendWorkRequest().reset(4).flushRegion(remote.key(), GLOBAL));
            memory.fill((byte) 0);
            complete(
                    pair,
                    "read",
                    FIRST + LENGTH,
                    new SendWorkRequest()
                            .reset(5)
                            .read(remote.address(), remote.key())
                            .from(region, 0, FIRST + LENGTH));
            boolean isSame = isSame(memory) && memory.get(ValueLayout.JAVA_LONG, 0) == VALUE;
            System.out.println(isSame ? "same" : "different");
            if (isDenied) {
                SendWorkRequest denied = SendWorkRequest.flush(6, remote.slice(0, 8), Set.of(PlacementType.PERSISTENT));
                complete(pair, "flush-persistent", 8, denied);
            }
            connection.disconnect();
            return isSame;
        }
    }

    /** Posts a request, and prints the status of its completion. */
    private static void complete(QueuePair pair, String name, long bytes, SendWorkRequest request) {
        pair.postSend(request.signaled());
        WorkCompletion[] one = WorkCompletion.array(1);
        while (pair.sendCompletions().poll(one) == 0) {
            Thread.onSpinWait();
        }
        CompletionStatus status = one[0].status();
        String details = status != CompletionStatus.SUCCESS
                ? ""
                : " opcode " + one[0].opcode().code() + " bytes " + one[0].byteLength()
                        + (one[0].byteLength() == bytes ? "" : " WRONG");
        System.out.println(name + " " + status.code() + details);
    }
}
