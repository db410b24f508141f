package io.rdma4j.sockets.io;

import io.rdma4j.sockets.stream.StreamPort;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * Posts the requests of a stream to its queue pair, and the receives for the peer's control words. If the transport has
 * no immediate data, control words are messages of four bytes in the host's byte order, in separate memory. Not thread
 * safe.
 */
final class QueuePairPort implements StreamPort {
    /** Set in the ID of every receive; the other bits are its slot. */
    static final long RECEIVE = 1L << 62;

    private final QueuePair queuePair;
    private final MemoryRegion local;
    private final MemoryRegion words;
    private final GrownMemory grown;
    private final int inlineBytes;
    private final int sends;
    private final boolean hasImmediate;
    private final SendWorkRequest request = new SendWorkRequest();
    private final ReceiveWorkRequest receive = new ReceiveWorkRequest();
    private int receives;
    private int nextWord;

    /**
     * Posts the first receives.
     *
     * @param words memory for a control word of each send and each receive, {@link #wordBytes}; unused with immediate
     *     data
     * @param grown the memory of buffers that grow
     */
    QueuePairPort(
            QueuePair queuePair,
            MemoryRegion local,
            MemoryRegion words,
            GrownMemory grown,
            int inlineBytes,
            int sends,
            int receives,
            boolean hasImmediate) {
        this.queuePair = queuePair;
        this.local = local;
        this.words = words;
        this.grown = grown;
        this.inlineBytes = inlineBytes;
        this.sends = sends;
        this.hasImmediate = hasImmediate;
        postReceives(receives);
    }

    static long wordBytes(int sends, int receives) {
        return (long) Integer.BYTES * (sends + receives);
    }

    @Override
    public void postReceives(int more) {
        for (int i = 0; i < more; i++) {
            postReceive(receives++);
        }
    }

    /** Posts the receive of a slot again. */
    void postReceive(long slot) {
        receive.reset(RECEIVE | slot);
        if (!hasImmediate) {
            receive.into(words, wordAt(slot), Integer.BYTES);
        }
        queuePair.postReceive(receive);
    }

    /** Returns the control word that was received as a message. */
    int receivedWord(long slot) {
        return words.memory().get(ValueLayout.JAVA_INT, wordAt(slot));
    }

    private long wordAt(long slot) {
        return Integer.BYTES * (sends + slot);
    }

    @Override
    public void write(long id, LocalRanges bytes, long remoteAddress, int remoteKey) {
        begin(id, bytes);
        queuePair.postSend(request.write(remoteAddress, remoteKey));
    }

    @Override
    public void writeWithImmediate(long id, LocalRanges bytes, long remoteAddress, int remoteKey, int word) {
        begin(id, bytes);
        queuePair.postSend(request.write(remoteAddress, remoteKey).withImmediate(word));
    }

    private void begin(long id, LocalRanges bytes) {
        request.reset(id).signaled();
        MemoryRegion from = bytes.memory() instanceof GrownMemory.Piece piece ? piece.region() : local;
        if (bytes.length() > 0) {
            request.from(from, bytes.offset(), bytes.length());
        }
        if (bytes.secondLength() > 0) {
            request.from(from, bytes.secondOffset(), bytes.secondLength());
        }
        if (bytes.totalLength() <= inlineBytes) {
            request.inline();
        }
    }

    @Override
    public void sendControlWord(long id, int word) {
        long at = (long) Integer.BYTES * nextWord;
        nextWord = (nextWord + 1) % sends;
        words.memory().set(ValueLayout.JAVA_INT, at, word);
        queuePair.postSend(request.reset(id).from(words, at, Integer.BYTES).signaled());
    }

    @Override
    public @Nullable ReceiveMemory allocateReceiveMemory(int bytes) {
        return grown.allocateToReceive(bytes);
    }

    @Override
    public void releaseReceiveMemory(ReceiveMemory memory) {
        grown.release(memory);
    }

    @Override
    public @Nullable SendMemory allocateSendMemory(int bytes) {
        return grown.allocate(bytes, AccessFlag.LOCAL_WRITE);
    }

    @Override
    public void releaseSendMemory(SendMemory memory) {
        if (memory instanceof GrownMemory.Piece piece) {
            grown.release(piece);
        }
    }
}
