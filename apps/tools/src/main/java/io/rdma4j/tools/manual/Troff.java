package io.rdma4j.tools.manual;

import java.util.regex.Pattern;

/** Text in the language of manual pages: man(7). */
final class Troff {
    private static final Pattern BOLD = Pattern.compile("`([^`]+)`");

    private Troff() {}

    /** Returns text escaped for a line of a manual page. */
    static String escaped(String text) {
        String result = text.replace("\\", "\\e").replace("-", "\\-");
        return result.startsWith(".") || result.startsWith("'") ? "\\&" + result : result;
    }

    /** Returns a paragraph escaped, in which words between backquotes become bold. */
    static String paragraph(String text) {
        return BOLD.matcher(escaped(text)).replaceAll("\\\\fB$1\\\\fR");
    }
}
