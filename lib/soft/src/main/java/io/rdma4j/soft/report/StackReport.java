package io.rdma4j.soft.report;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.util.List;

/**
 * The state of a stack at one moment.
 *
 * @param pid the number of its process
 * @param program the program of the process: a main class, a module or the name of a jar
 * @param slot the slot of the stack
 * @param devices its open devices
 * @param queuePairs its open queue pairs, at most {@value #MAX_QUEUE_PAIRS}
 * @param omittedQueuePairs the number of queue pairs beyond that
 */
public record StackReport(
        long pid,
        String program,
        int slot,
        List<DeviceReport> devices,
        List<QueuePairReport> queuePairs,
        int omittedQueuePairs) {
    /** System property with the name of the program in reports; by default it is the main class, module or jar. */
    public static final String PROGRAM_PROPERTY = "rdma4j.program";

    /** The maximum number of queue pairs in a report. */
    public static final int MAX_QUEUE_PAIRS = 1000;

    /** The maximum length of an encoded report, in bytes. */
    public static final int MAX_BYTES = 8 << 20;

    private static final int MAX_DEVICES = 1000;

    /** "rd4j" and the version of the format. */
    private static final long MAGIC = 0x7264_346a_0000_0001L;

    /** Returns the report as bytes, for {@link #decode}. */
    public byte[] encode() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeLong(MAGIC);
            out.writeLong(pid);
            ReportFormat.writeText(out, program);
            out.writeInt(slot);
            out.writeInt(devices.size());
            for (DeviceReport device : devices) {
                device.write(out);
            }
            out.writeInt(queuePairs.size());
            for (QueuePairReport queuePair : queuePairs) {
                queuePair.write(out);
            }
            out.writeInt(omittedQueuePairs);
        } catch (IOException e) {
            throw new AssertionError("memory does not fail", e);
        }
        return bytes.toByteArray();
    }

    /**
     * Returns the report that another process has encoded.
     *
     * @throws IOException if the bytes are not a complete report of this version; the message has the reason
     */
    public static StackReport decode(byte[] bytes) throws IOException {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            if (in.readLong() != MAGIC) {
                throw new IOException("the report is of another version of rdma4j");
            }
            StackReport report = new StackReport(
                    in.readLong(),
                    ReportFormat.readText(in),
                    in.readInt(),
                    ReportFormat.readList(in, MAX_DEVICES, DeviceReport::read),
                    ReportFormat.readList(in, MAX_QUEUE_PAIRS, QueuePairReport::read),
                    in.readInt());
            if (in.read() >= 0) {
                throw new IOException("the report is followed by other bytes");
            }
            return report;
        } catch (EOFException e) {
            throw new IOException("the report ends early", e);
        }
    }
}
