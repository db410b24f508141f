package io.rdma4j.rules;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import io.rdma4j.fixture.Checkout;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Public members of the packages that the libraries export have only types of such packages: a program can name each of them. */
class ExportedTypesTest {
    private static final List<String> LIBRARIES = List.of(
            "wire", "transport", "link", "verbs", "cm", "sharing", "soft", "hardware", "sockets", "library", "testkit");

    private static final Pattern EXPORT_TO_ALL = Pattern.compile("exports ([\\w.]+);");

    private final Set<String> exported = new HashSet<>();

    @Test
    void publicMembersOfExportedTypesHaveExportedTypes() {
        for (String library : LIBRARIES) {
            Matcher export = EXPORT_TO_ALL.matcher(
                    Checkout.read(Checkout.module(library).resolve("src/main/java/module-info.java")));
            while (export.find()) {
                exported.add(export.group(1));
            }
        }
        assertThat(exported).contains("io.rdma4j.value", "io.rdma4j.verbs", "io.rdma4j.soft");
        assertThat(ModulesTest.CLASSES.stream().filter(this::isExported).flatMap(this::hiddenTypes))
                .isEmpty();
    }

    /** Returns whether every program can name a type. */
    private boolean isExported(JavaClass type) {
        return type.getModifiers().contains(JavaModifier.PUBLIC)
                && exported.contains(type.getPackageName())
                && type.getEnclosingClass().map(this::isExported).orElse(true);
    }

    private Stream<String> hiddenTypes(JavaClass type) {
        return type.getMembers().stream()
                .filter(ExportedTypesTest::isOfTheApi)
                .flatMap(member -> member.getAllInvolvedRawTypes().stream()
                        .map(JavaClass::getBaseComponentType)
                        .filter(used -> used.getPackageName().startsWith("io.rdma4j") && !isExported(used))
                        .map(used -> member.getFullName() + " has the type " + used.getName()));
    }

    private static boolean isOfTheApi(JavaMember member) {
        Set<JavaModifier> modifiers = member.getModifiers();
        return !modifiers.contains(JavaModifier.SYNTHETIC)
                && (modifiers.contains(JavaModifier.PUBLIC) || modifiers.contains(JavaModifier.PROTECTED));
    }
}
