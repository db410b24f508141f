package io.rdma4j.rules;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The public names of the installed C header files of libibverbs and librdmacm: functions, structures with their fields, and
 * enumerations with their constants.
 *
 * <p>It understands as much of C as these files need: declarations that end with a semicolon or a block, and inline functions.
 * Names that begin with an underscore are internal by the convention of these libraries.
 */
final class CHeaders {
    /** The folder of the header files; another one checks another version of them. */
    static final Path INCLUDES = Path.of(System.getProperty("rdma4j.includes", "/usr/include"));

    /** The files that programs include, and those that they include in turn. Files of single drivers are not among them. */
    private static final List<String> FILES = List.of(
            "infiniband/verbs.h",
            "infiniband/verbs_api.h",
            "infiniband/sa.h",
            "infiniband/ib.h",
            "infiniband/tm_types.h",
            "rdma/rdma_cma.h",
            "rdma/rdma_verbs.h",
            "rdma/rsocket.h");

    /** The definitions behind the names that {@code verbs_api.h} introduces by {@code #define}. */
    private static final String ALIASED = "infiniband/ib_user_ioctl_verbs.h";

    private static final Pattern COMMENT = Pattern.compile("/\\*.*?\\*/|//[^\n]*", Pattern.DOTALL);
    private static final Pattern DIRECTIVE = Pattern.compile("^[ \t]*#(?:[^\n]*\\\\\n)*[^\n]*", Pattern.MULTILINE);
    private static final Pattern ALIAS = Pattern.compile("^#define\\s+(ibv_\\w+)\\s+(ib_\\w+)\\s*$", Pattern.MULTILINE);
    private static final Pattern DEFINITION = Pattern.compile("\\b(struct|union|enum)\\s+(\\w+\\s*)?\\{");
    private static final Pattern FUNCTION = Pattern.compile("\\b([a-z]\\w*)\\s*\\(");
    private static final Pattern CONSTANT = Pattern.compile("(?:^|,)\\s*(\\w+)");
    private static final Pattern FIELD =
            Pattern.compile("\\(\\s*\\*\\s*(\\w+)\\s*\\)|(\\w+)\\s*(?:\\[[^]]*]\\s*)*(?::\\s*\\d+\\s*)?(?:,|$)");

    private final Set<String> functions = new LinkedHashSet<>();

    /** Fields by {@code struct NAME} or {@code union NAME}. */
    private final Map<String, List<String>> structures = new LinkedHashMap<>();

    /** Constants by {@code enum NAME}. */
    private final Map<String, List<String>> enumerations = new LinkedHashMap<>();

    /** The constants of enumerations without a name. */
    private final List<String> constants = new ArrayList<>();

    private CHeaders() {}

    /** Returns whether the files of both libraries are below a folder such as {@code /usr/include}. */
    static boolean areIn(Path includes) {
        return Files.exists(includes.resolve("infiniband/verbs.h"))
                && Files.exists(includes.resolve("rdma/rdma_cma.h"));
    }

    /** Reads the files below a folder such as {@code /usr/include}. */
    static CHeaders read(Path includes) throws IOException {
        CHeaders all = new CHeaders();
        for (String file : FILES) {
            all.addDeclarations(Files.readString(includes.resolve(file)));
        }
        CHeaders aliased = of(Files.readString(includes.resolve(ALIASED)));
        Matcher aliases = ALIAS.matcher(Files.readString(includes.resolve("infiniband/verbs_api.h")));
        while (aliases.find()) {
            all.addAlias(aliases.group(1), aliases.group(2), aliased);
        }
        return all;
    }

    /** Reads the text of one file. */
    static CHeaders of(String text) {
        CHeaders headers = new CHeaders();
        headers.addDeclarations(text);
        return headers;
    }

    Set<String> functions() {
        return functions;
    }

    Map<String, List<String>> structures() {
        return structures;
    }

    Map<String, List<String>> enumerations() {
        return enumerations;
    }

    List<String> constants() {
        return constants;
    }

    private void addAlias(String name, String original, CHeaders aliased) {
        List<String> values = aliased.enumerations.get("enum " + original);
        if (values != null) {
            enumerations.put(
                    "enum " + name,
                    values.stream()
                            .map(each -> each.replaceFirst("^IB_UVERBS_", "IBV_"))
                            .toList());
        } else {
            structures.put("struct " + name, aliased.structures.getOrDefault("struct " + original, List.of()));
        }
    }

    private void addDeclarations(String text) {
        String code = COMMENT.matcher(text).replaceAll(" ");
        code = DIRECTIVE.matcher(code).replaceAll("");
        code = code.replaceAll("extern\\s+\"C\"\\s*\\{", "");
        int start = 0;
        int depth = 0;
        for (int i = 0; i < code.length(); i++) {
            char c = code.charAt(i);
            depth += c == '{' ? 1 : c == '}' && depth > 0 ? -1 : 0;
            boolean endsBody = c == '}' && depth == 0 && isFunctionBody(code.substring(start, i));
            if (depth == 0 && c == ';' || endsBody) {
                addDeclaration(code.substring(start, i + 1));
                start = i + 1;
            }
        }
    }

    /** Returns whether a block follows the parameters of a function. */
    private static boolean isFunctionBody(String declaration) {
        int brace = declaration.indexOf('{');
        return brace >= 0 && declaration.substring(0, brace).strip().endsWith(")");
    }

    private void addDeclaration(String declaration) {
        if (isFunctionBody(declaration)) {
            addFunction(declaration.substring(0, declaration.indexOf('{')));
            return;
        }
        Matcher definition = DEFINITION.matcher(declaration);
        if (definition.find()) {
            addDefinitions(declaration);
        } else if (!declaration.strip().startsWith("typedef")) {
            addFunction(declaration);
        }
    }

    private void addFunction(String declaration) {
        Matcher function = FUNCTION.matcher(declaration.replaceAll("__attribute__\\s*\\(\\(.*?\\)\\)", " "));
        if (function.find() && !function.group(1).startsWith("static_assert")) {
            functions.add(function.group(1));
        }
    }

    /** Adds a structure or an enumeration, and those with names inside. */
    private void addDefinitions(String declaration) {
        Matcher definition = DEFINITION.matcher(declaration);
        while (definition.find()) {
            String body = block(declaration, definition.end() - 1);
            String name = definition.group(2) == null ? "" : definition.group(2).strip();
            if (definition.group(1).equals("enum")) {
                addEnumeration(name, body);
            } else if (!name.isEmpty() && !name.startsWith("_")) {
                structures.put(definition.group(1) + " " + name, fields(body));
            }
        }
    }

    private void addEnumeration(String name, String body) {
        List<String> values = CONSTANT.matcher(body.replaceAll("\\([^()]*(\\([^()]*\\)[^()]*)*\\)", ""))
                .results()
                .map(match -> match.group(1))
                .toList();
        if (name.isEmpty()) {
            constants.addAll(values);
        } else if (!name.startsWith("_")) {
            enumerations.put("enum " + name, values);
        }
    }

    /** Returns the content of the block whose opening brace is at an index. */
    private static String block(String text, int brace) {
        int depth = 0;
        for (int i = brace; i < text.length(); i++) {
            depth += text.charAt(i) == '{' ? 1 : text.charAt(i) == '}' ? -1 : 0;
            if (depth == 0) {
                return text.substring(brace + 1, i);
            }
        }
        return text.substring(brace + 1);
    }

    /** Returns the fields, including those of blocks without a name, which C names as if they were outside. */
    private static List<String> fields(String body) {
        List<String> names = new ArrayList<>();
        int start = 0;
        int depth = 0;
        for (int i = 0; i < body.length(); i++) {
            depth += body.charAt(i) == '{' ? 1 : body.charAt(i) == '}' ? -1 : 0;
            if (depth == 0 && body.charAt(i) == ';') {
                addFields(body.substring(start, i).strip(), names);
                start = i + 1;
            }
        }
        return names;
    }

    private static void addFields(String declaration, List<String> names) {
        int close = declaration.lastIndexOf('}');
        if (close == declaration.length() - 1 && close >= 0) {
            names.addAll(fields(block(declaration, declaration.indexOf('{'))));
            return;
        }
        String declarators = declaration.substring(close + 1);
        for (MatchResult field : FIELD.matcher(declarators).results().toList()) {
            names.add(field.group(1) != null ? field.group(1) : field.group(2));
            if (field.group(1) != null) {
                return; // what follows a pointer to a function are its parameters
            }
        }
    }
}
