package io.rdma4j.sockets.stream;

import io.rdma4j.wire.rsocket.ConnectData;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The messages between two C peers. The README next to the files describes their format. */
final class Transcript {
    /** A message: a write, with or without a control word, or a control word alone. */
    static final class Line {
        private final String text;
        private final String role;
        private final long address;
        private final int key;
        private final @Nullable Integer word;
        private final byte[] bytes;

        private Line(String text, String role, long address, int key, @Nullable Integer word, byte[] bytes) {
            this.text = text;
            this.role = role;
            this.address = address;
            this.key = key;
            this.word = word;
            this.bytes = bytes;
        }

        String role() {
            return role;
        }

        long address() {
            return address;
        }

        int key() {
            return key;
        }

        @Nullable
        Integer word() {
            return word;
        }

        byte[] bytes() {
            return bytes;
        }

        @Override
        public String toString() {
            return text;
        }
    }

    /** Maximum length of table entries; longer writes are data. */
    private static final int LONGEST_ENTRY = 24;

    private final Map<String, ConnectData> connectData = new HashMap<>();
    private final List<Line> messages = new ArrayList<>();
    private boolean hasImmediate = true;

    private Transcript() {}

    /** Reads a transcript. If {@code marked}, its data is bytes that identify their position. */
    static Transcript load(String file, boolean marked) {
        Transcript transcript = new Transcript();
        try (InputStream in = Transcript.class.getResourceAsStream("/captures/" + file + ".txt")) {
            String text = new String(Objects.requireNonNull(in, file).readAllBytes(), StandardCharsets.US_ASCII);
            text.lines().forEach(line -> transcript.add(line, marked));
        } catch (IOException e) {
            throw new UncheckedIOException(file, e);
        }
        return transcript;
    }

    private void add(String text, boolean marked) {
        String[] field = text.split(" ", -1);
        switch (field[1]) {
            case "connects" ->
                connectData.put(
                        field[0],
                        Objects.requireNonNull(ConnectData.parse(HexFormat.of().parseHex(field[2]))));
            case "sends" -> {
                hasImmediate = false;
                messages.add(new Line(text, field[0], 0, 0, word(field[2]), new byte[0]));
            }
            case "writes" -> {
                long address = Long.parseUnsignedLong(field[2], 16);
                byte[] bytes = bytes(field[5]);
                if (marked && bytes.length > LONGEST_ENTRY) {
                    bytes = StreamPair.bytesAt(address & 0xffff_ffff_ffffL, bytes.length);
                }
                int key = Integer.parseUnsignedInt(field[3], 16);
                messages.add(new Line(text, field[0], address, key, word(field[4]), bytes));
            }
            default -> throw new IllegalArgumentException(text);
        }
    }

    private static @Nullable Integer word(String text) {
        return text.equals("-") ? null : (Integer) Integer.parseUnsignedInt(text, 16);
    }

    private static byte[] bytes(String text) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (String run : text.equals("-") ? new String[0] : text.split("\\+", -1)) {
            String[] part = run.split("\\*", -1);
            for (int i = part.length == 1 ? 1 : Integer.parseInt(part[1]); i > 0; i--) {
                bytes.writeBytes(HexFormat.of().parseHex(part[0]));
            }
        }
        return bytes.toByteArray();
    }

    ConnectData connectData(String role) {
        return Objects.requireNonNull(connectData.get(role));
    }

    List<Line> messages() {
        return messages;
    }

    /** Returns whether control words are sent as immediate data. */
    boolean hasImmediate() {
        return hasImmediate;
    }
}
