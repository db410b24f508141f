package io.rdma4j.tools.manual;

/** Text in the language of manual pages: man(7). */
final class Troff {
    private Troff() {}

    /** Returns text escaped for a line of a manual page. */
    static String escaped(String text) {
        String result = text.replace("\\", "\\e").replace("-", "\\-");
        return result.startsWith(".") || result.startsWith("'") ? "\\&" + result : result;
    }
}
