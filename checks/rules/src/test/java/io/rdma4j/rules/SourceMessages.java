package io.rdma4j.rules;

import com.sun.source.tree.AnnotationTree;
import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.ParenthesizedTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/**
 * The texts in sources that can be messages to users: string expressions of four or more words, where {@code …} stands for
 * everything that is not a literal. The texts that are arguments of one call belong together: an exception's details and hint.
 */
final class SourceMessages extends TreeScanner<Void, Void> {
    /** Stands for an expression in a text. */
    static final String VARIABLE = "…";

    private static final int LEAST_WORDS = 4;

    /** Calls that only build a text, so that their texts belong to the call around them. */
    private static final Set<String> TEXT_CALLS = Set.of("formatted", "format", "append", "valueOf", "requireNonNull");

    /**
     * The texts of one call.
     *
     * @param file name of the source file
     * @param texts at least one
     */
    record Message(String file, Set<String> texts) {
        @Override
        public String toString() {
            return file + ": " + String.join(" | ", texts);
        }
    }

    private final String file;
    private final List<Message> messages = new ArrayList<>();
    private Set<String> texts = new LinkedHashSet<>();

    /** Calls around the current position. */
    private int calls;

    private SourceMessages(String file) {
        this.file = file;
    }

    /** Returns the messages of source files. */
    static List<Message> of(List<Path> sources) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        List<Message> all = new ArrayList<>();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            JavacTask task = (JavacTask) compiler.getTask(
                    null, files, null, List.of("-proc:none"), null, files.getJavaFileObjectsFromPaths(sources));
            for (CompilationUnitTree unit : task.parse()) {
                SourceMessages scanner = new SourceMessages(
                        Path.of(unit.getSourceFile().toUri()).getFileName().toString());
                scanner.scan(unit, null);
                all.addAll(scanner.messages);
            }
        }
        return all;
    }

    @Override
    public Void visitAnnotation(AnnotationTree annotation, Void none) {
        return null;
    }

    @Override
    public Void visitMethod(MethodTree method, Void none) {
        return method.getName().contentEquals("toString") ? null : super.visitMethod(method, null);
    }

    @Override
    public Void visitNewClass(NewClassTree creation, Void none) {
        if (creation.getIdentifier().toString().equals("AssertionError")) {
            return null; // for what cannot happen
        }
        inOneMessage(() -> super.visitNewClass(creation, null));
        return null;
    }

    @Override
    public Void visitMethodInvocation(MethodInvocationTree call, Void none) {
        if (TEXT_CALLS.contains(name(call.getMethodSelect()))) {
            return super.visitMethodInvocation(call, null);
        }
        inOneMessage(() -> super.visitMethodInvocation(call, null));
        return null;
    }

    private void inOneMessage(Runnable scan) {
        Set<String> outer = texts;
        texts = new LinkedHashSet<>();
        calls++;
        scan.run();
        calls--;
        if (!texts.isEmpty()) {
            messages.add(new Message(file, texts));
        }
        texts = outer;
    }

    @Override
    public Void visitBinary(BinaryTree binary, Void none) {
        String text = text(binary);
        if (text == null) {
            return super.visitBinary(binary, null);
        }
        add(text);
        scanVariables(binary);
        return null;
    }

    /** Scans the parts of a concatenation that are not literals, which may also contain texts. */
    private void scanVariables(ExpressionTree part) {
        if (part instanceof BinaryTree binary && binary.getKind() == Tree.Kind.PLUS) {
            scanVariables(binary.getLeftOperand());
            scanVariables(binary.getRightOperand());
        } else if (!(part instanceof LiteralTree)) {
            scan(part, null);
        }
    }

    @Override
    public Void visitLiteral(LiteralTree literal, Void none) {
        if (literal.getValue() instanceof String text) {
            add(text);
        }
        return null;
    }

    private void add(String literal) {
        String text = literal.replaceAll("%[-0-9.]*[a-zA-Z]", VARIABLE);
        if (!isMessage(text)) {
            return;
        }
        if (calls == 0) {
            messages.add(new Message(file, Set.of(text)));
        } else {
            texts.add(text);
        }
    }

    /** Returns whether a text has enough words for a message. */
    static boolean isMessage(String text) {
        return Stream.of(text.replace(VARIABLE, " ").split("\\s+"))
                        .filter(word -> !word.isEmpty())
                        .count()
                >= LEAST_WORDS;
    }

    /** Returns a literal or concatenation with its variables replaced, or null if no part of it is a literal text. */
    private static @Nullable String text(ExpressionTree expression) {
        if (expression instanceof LiteralTree literal) {
            return literal.getValue() instanceof String || literal.getValue() instanceof Character
                    ? String.valueOf(literal.getValue())
                    : null;
        }
        if (expression instanceof ParenthesizedTree parentheses) {
            return text(parentheses.getExpression());
        }
        if (expression instanceof BinaryTree binary && binary.getKind() == Tree.Kind.PLUS) {
            String left = text(binary.getLeftOperand());
            String right = text(binary.getRightOperand());
            return left == null && right == null ? null : orVariable(left) + orVariable(right);
        }
        return null;
    }

    private static String orVariable(@Nullable String text) {
        return text == null ? VARIABLE : text;
    }

    private static String name(ExpressionTree method) {
        return switch (method) {
            case MemberSelectTree selection -> selection.getIdentifier().toString();
            case IdentifierTree identifier -> identifier.getName().toString();
            default -> "";
        };
    }
}
