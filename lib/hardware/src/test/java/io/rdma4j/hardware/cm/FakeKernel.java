package io.rdma4j.hardware.cm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.rdma4j.cm.abi.CmNumbers;
import io.rdma4j.cm.abi.CmStructures;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.abi.Fields;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/** Accepts commands instead of the kernel: records them, and returns the responses that a test has set. */
final class FakeKernel implements CommandFile {
    private static final int HEADER = CmStructures.CommandHeader.BYTES;

    /** The offset of the response's address, for each command that has a response. */
    private static final Map<Integer, Integer> RESPONSES = Map.of(
            CmNumbers.CREATE_ID, CmStructures.CreateId.RESPONSE,
            CmNumbers.DESTROY_ID, CmStructures.DestroyId.RESPONSE,
            CmNumbers.LEAVE_GROUP, CmStructures.DestroyId.RESPONSE,
            CmNumbers.QUERY, CmStructures.Query.RESPONSE,
            CmNumbers.INITIALIZE_ATTRIBUTES, CmStructures.InitializeAttributes.RESPONSE,
            CmNumbers.GET_EVENT, CmStructures.GetEvent.RESPONSE,
            CmNumbers.JOIN_GROUP, CmStructures.JoinGroup.RESPONSE);

    /**
     * A command that was written.
     *
     * @param structure its structure, without addresses
     * @param value the value of an option, otherwise empty
     */
    @SuppressWarnings("ArrayRecordComponent") // only read by tests
    record Sent(int number, byte[] header, byte[] structure, byte[] value) {}

    private final List<Sent> sent = new ArrayList<>();
    private final Map<Integer, byte[]> answers = new HashMap<>();
    private final Map<Integer, Errno> errors = new HashMap<>();
    private final Deque<byte[]> events = new ArrayDeque<>();
    private Consumer<Sent> onCommand = command -> {};

    /** Sets the response to a command. */
    void answer(int number, byte[] response) {
        answers.put(number, response);
    }

    /** Makes a command fail. */
    void refuse(int number, Errno errno) {
        errors.put(number, errno);
    }

    /** Adds an event, which is read later. */
    void add(byte[] event) {
        events.add(event);
    }

    /** Sets a listener, which is called during each command, before the response. */
    void onCommand(Consumer<Sent> listener) {
        onCommand = listener;
    }

    /** Returns the last command. */
    Sent last() {
        return sent.getLast();
    }

    /** Returns the commands with one of these numbers. */
    List<Sent> sent(Integer... numbers) {
        Set<Integer> wanted = Set.of(numbers);
        return sent.stream().filter(each -> wanted.contains(each.number())).toList();
    }

    @Override
    public int write(MemorySegment command) {
        int number = Fields.intAt(command, CmStructures.CommandHeader.COMMAND);
        MemorySegment response = MemorySegment.NULL;
        MemorySegment structure =
                MemorySegment.ofArray(Fields.bytesAt(command, HEADER, (int) command.byteSize() - HEADER));
        Integer at = RESPONSES.get(number);
        if (at != null) {
            int bytes = Fields.shortAt(command, CmStructures.CommandHeader.RESPONSE_BYTES);
            response = memory(Fields.longAt(structure, at), bytes);
            Fields.putLong(structure, at, 0);
        }
        byte[] value = number == CmNumbers.SET_OPTION ? value(structure) : new byte[0];
        Sent recorded = new Sent(number, Fields.bytesAt(command, 0, HEADER), structure.toArray(JAVA_BYTE), value);
        if (number != CmNumbers.GET_EVENT) {
            sent.add(recorded);
            onCommand.accept(recorded);
        }
        return errors.containsKey(number)
                ? -errors.get(number).number()
                : result(number, response, (int) command.byteSize());
    }

    private int result(int number, MemorySegment response, int bytes) {
        byte[] answer = answers.get(number);
        if (number == CmNumbers.GET_EVENT) {
            answer = events.poll();
            if (answer == null) {
                return -Errno.EAGAIN.number();
            }
        }
        if (answer != null) {
            Fields.putBytes(response, 0, answer);
        }
        return bytes;
    }

    private static byte[] value(MemorySegment option) {
        int bytes = Fields.intAt(option, CmStructures.SetOption.VALUE_BYTES);
        byte[] value = Fields.bytesAt(memory(Fields.longAt(option, CmStructures.SetOption.VALUE), bytes), 0, bytes);
        Fields.putLong(option, CmStructures.SetOption.VALUE, 0);
        return value;
    }

    @SuppressWarnings("restricted")
    private static MemorySegment memory(long address, int bytes) {
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }
}
