package io.rdma4j.bench.report;

import java.util.Locale;

/** Writes HTML that is XML too, and SVG in it. Not thread safe. */
final class Markup {
    private final StringBuilder text = new StringBuilder();

    /** Adds a tag, or anything else that is markup already. */
    Markup raw(String markup) {
        text.append(markup);
        return this;
    }

    /** Adds text. */
    Markup text(String plain) {
        text.append(escape(plain));
        return this;
    }

    /** Adds an element with text in it. */
    Markup element(String name, String attributes, String plain) {
        text.append('<').append(name).append(attributes.isEmpty() ? "" : " ").append(attributes);
        text.append('>').append(escape(plain)).append("</").append(name).append('>');
        return this;
    }

    /** Adds formatted markup; numbers with a point. */
    @SuppressWarnings("AnnotateFormatMethod") // its annotation is in a library that is not used here
    Markup format(String markup, Object... arguments) {
        text.append(String.format(Locale.ROOT, markup, arguments));
        return this;
    }

    static String escape(String plain) {
        return plain.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
