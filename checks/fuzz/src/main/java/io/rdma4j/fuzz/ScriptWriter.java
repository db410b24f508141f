package io.rdma4j.fuzz;

import java.io.ByteArrayOutputStream;

/** Writes inputs for {@link Script}, used by seeds. */
final class ScriptWriter {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    ScriptWriter u8(int... values) {
        for (int value : values) {
            out.write(value);
        }
        return this;
    }

    ScriptWriter u16(int value) {
        return u8(value >> 8, value);
    }

    ScriptWriter s32(int value) {
        return u16(value >> 16).u16(value);
    }

    ScriptWriter s64(long value) {
        return s32((int) (value >> 32)).s32((int) value);
    }

    ScriptWriter run(byte[] bytes) {
        u16(bytes.length);
        return rest(bytes);
    }

    ScriptWriter rest(byte[] bytes) {
        out.writeBytes(bytes);
        return this;
    }

    byte[] bytes() {
        return out.toByteArray();
    }
}
