package io.rdma4j.rules;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaEnumConstant;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import io.rdma4j.fixture.Checkout;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Clock;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.Lock;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks the dependency rules of the modules in ARCHITECTURE.md against the class files. */
class ModulesTest {
    static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("io.rdma4j");

    /** The package of the module {@code wire} that all modules may use, and that uses none: the values that protocol and API share. */
    private static final String VALUES = "value";

    /** The modules that each module may use in addition to the values. */
    private static final Map<String, Set<String>> MODULES = Map.ofEntries(
            Map.entry(VALUES, Set.of()),
            Map.entry("wire", Set.of()),
            Map.entry("transport", Set.of("wire")),
            Map.entry("link", Set.of("wire")),
            Map.entry("verbs", Set.of()),
            Map.entry("fixture", Set.of("verbs")),
            Map.entry("harness", Set.of()),
            Map.entry("cm", Set.of("verbs")),
            Map.entry("sharing", Set.of("link", "wire")),
            Map.entry("soft", Set.of("verbs", "cm", "transport", "sharing", "link", "wire")),
            Map.entry("hardware", Set.of("verbs", "cm")),
            Map.entry("sockets", Set.of("verbs", "cm", "wire")),
            Map.entry("simulator", Set.of("sockets", "link", "transport", "wire")),
            Map.entry("testkit", Set.of("verbs", "cm", "library", "soft", "sharing", "link", "wire")),
            Map.entry("exec", Set.of("verbs", "cm")),
            Map.entry("library", Set.of("verbs", "cm")),
            Map.entry("tools", Set.of("verbs", "cm", "soft", "hardware", "sockets", "simulator", "link", "wire")));

    /** Modules that may use all others, and that no module may use; their classes are not checked here. */
    private static final Set<String> MODULES_THAT_USE_ALL =
            Set.of("conformance", "rules", "acceptance", "bench", "examples", "fuzz", "programs");

    /** Maven modules without classes: lists of artifacts and of modules. */
    private static final Set<String> LISTS = Set.of("bom");

    static Stream<String> modules() {
        return MODULES.keySet().stream().sorted();
    }

    private static String packages(String module) {
        return module.equals("library") ? "io.rdma4j" : "io.rdma4j." + module + "..";
    }

    @Test
    void everyClassIsInAModuleOfTheTable() {
        Set<String> known = MODULES.keySet();
        assertThat(CLASSES)
                .isNotEmpty()
                .allMatch(
                        type -> known.stream()
                                .anyMatch(module ->
                                        resideInAPackage(packages(module)).test(type)),
                        "is in a module of the table");
    }

    @Test
    void everyMavenModuleIsInTheTable() {
        assertThat(Checkout.modules().stream()
                        .map(folder -> folder.getFileName().toString()))
                .containsExactlyInAnyOrderElementsOf(Stream.of(MODULES.keySet(), MODULES_THAT_USE_ALL, LISTS)
                        .flatMap(Set::stream)
                        .filter(module -> !module.equals(VALUES))
                        .toList());
    }

    @ParameterizedTest
    @MethodSource("modules")
    void moduleUsesOnlyPermittedModules(String module) {
        Set<String> allowed = MODULES.getOrDefault(module, Set.of());
        String[] forbidden = Stream.concat(modules(), MODULES_THAT_USE_ALL.stream())
                .filter(other -> !other.equals(module) && !other.equals(VALUES) && !allowed.contains(other))
                .map(ModulesTest::packages)
                .toArray(String[]::new);
        noClasses()
                .that()
                .resideInAPackage(packages(module))
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(forbidden)
                .check(CLASSES);
    }

    @ParameterizedTest
    @ValueSource(strings = {VALUES, "wire", "transport"})
    void protocolUsesNoClockThreadSocketLoggerOrUnseededRandomness(String module) {
        String[] types = {"java.net..", "java.nio.channels..", "java.nio.file..", "java.util.logging..", "java.time.."};
        DescribedPredicate<JavaClass> permitted = module.equals(VALUES)
                ? belongToAnyOf(InetAddress.class, Inet4Address.class, UnknownHostException.class)
                : DescribedPredicate.alwaysFalse();
        noClasses()
                .that()
                .resideInAPackage(packages(module))
                .should()
                .dependOnClassesThat(resideInAnyPackage(types).and(not(permitted)))
                .check(CLASSES);
        for (Class<?> type : new Class<?>[] {
            Thread.class, System.Logger.class, Random.class, ThreadLocalRandom.class, Instant.class, Clock.class
        }) {
            noClasses()
                    .that()
                    .resideInAPackage(packages(module))
                    .should()
                    .dependOnClassesThat()
                    .areAssignableTo(type)
                    .check(CLASSES);
        }
        noClockIn(module);
    }

    @Test
    void socketProtocolUsesNoThreadSocketClockOrQueuePair() {
        noClasses()
                .that()
                .resideInAnyPackage("io.rdma4j.sockets.stream..", "io.rdma4j.sockets.datagram..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "java.net..",
                        "java.nio.channels..",
                        "java.util.concurrent..",
                        "java.time..",
                        "io.rdma4j.verbs..",
                        "io.rdma4j.cm..",
                        "io.rdma4j.sockets.io..")
                .check(CLASSES);
        noClockIn("sockets.stream");
        noClockIn("sockets.datagram");
    }

    @ParameterizedTest
    @ValueSource(strings = {"link", "verbs", "library", "simulator"})
    void theseModulesUseNoClock(String module) {
        noClockIn(module);
    }

    /** Classes whose state belongs to the process: the lock files, the default stack, and the access that the class of the stacks provides. */
    private static final Set<String> STATE_OF_THE_PROCESS = Set.of(
            "io.rdma4j.sharing.SystemLockFile",
            "io.rdma4j.soft.process.ProcessStack",
            "io.rdma4j.soft.device.StackAccess");

    @Test
    void aStackOwnsItsStateAndIsGivenItsClock() {
        DescribedPredicate<JavaClass> ofStack = resideInAnyPackage(packages("soft"), packages("sharing"))
                .and(DescribedPredicate.describe(
                        "belong to a stack", type -> !STATE_OF_THE_PROCESS.contains(type.getName())));
        fields().that()
                .areDeclaredInClassesThat(ofStack)
                .and()
                .areStatic()
                .should()
                .beFinal()
                .check(CLASSES);
        assertThat(CLASSES.stream()
                        .filter(ofStack)
                        .flatMap(type -> type.getStaticInitializer().stream())
                        .flatMap(initializer -> initializer.getConstructorCallsFromSelf().stream())
                        .filter(call -> isMutable(call.getTargetOwner()))
                        .map(Object::toString))
                .as("mutable objects in static fields")
                .isEmpty();
        noClasses()
                .that(ofStack.and(DescribedPredicate.describe(
                        "are not the system's clock",
                        type -> !type.getName().equals("io.rdma4j.soft.host.SystemClock"))))
                .should()
                .callMethod(System.class, "nanoTime")
                .orShould()
                .callMethod(System.class, "currentTimeMillis")
                .orShould()
                .callMethod(Instant.class, "now")
                .check(CLASSES);
    }

    /** The timeouts of sockets use the clock of the stack, which may be virtual. {@code SystemTime} describes the exceptions. */
    @Test
    void socketsReadTheSystemsClockInOneClass() {
        noClasses()
                .that(resideInAPackage(packages("sockets"))
                        .and(DescribedPredicate.describe(
                                "are not the system's clock",
                                type -> !type.getName().equals("io.rdma4j.sockets.io.SystemTime"))))
                .should()
                .accessTargetWhere(DescribedPredicate.describe( // method references, too
                        "is the system's clock",
                        access -> access.getTargetOwner().isEquivalentTo(System.class)
                                        && Set.of("nanoTime", "currentTimeMillis")
                                                .contains(access.getName())
                                || access.getTargetOwner().isEquivalentTo(Instant.class)
                                        && access.getName().equals("now")))
                .check(CLASSES);
    }

    @Test
    void noSimpleNameIsUsedTwiceInTheApiModulesAndSoft() {
        Map<String, List<String>> byName = CLASSES.stream()
                .filter(resideInAnyPackage(
                        packages(VALUES),
                        packages("verbs"),
                        packages("cm"),
                        packages("sockets"),
                        packages("sharing"),
                        packages("soft"),
                        packages("library")))
                .filter(type -> type.isTopLevelClass() && !type.getSimpleName().equals("package-info"))
                .collect(Collectors.groupingBy(
                        JavaClass::getSimpleName, Collectors.mapping(JavaClass::getName, Collectors.toList())));
        assertThat(byName.values()).allMatch(names -> names.size() == 1);
    }

    /** The protocol and the API have one type for each value, and thus no conversions. */
    @Test
    void noTypeIsASecondOneOfAValue() {
        List<JavaClass> values = CLASSES.stream()
                .filter(resideInAPackage(packages(VALUES)))
                .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
                .toList();
        List<JavaClass> others =
                CLASSES.stream().filter(not(resideInAPackage(packages(VALUES)))).toList();
        assertThat(values).extracting(JavaClass::getSimpleName).contains("Gid", "SendOpcode", "CompletionStatus");
        assertThat(others).allSatisfy(other -> assertThat(values).noneMatch(value -> isSecond(other, value)));
    }

    /** Returns whether a type has the name of a value, or all its constants. */
    private static boolean isSecond(JavaClass other, JavaClass value) {
        return other.getSimpleName().equals(value.getSimpleName())
                || other.isEnum() && value.isEnum() && constants(other).containsAll(constants(value));
    }

    private static Set<String> constants(JavaClass type) {
        return type.getEnumConstants().stream().map(JavaEnumConstant::name).collect(Collectors.toSet());
    }

    private static boolean isMutable(JavaClass type) {
        return type.isAssignableTo(Map.class)
                || type.isAssignableTo(Collection.class)
                || type.isAssignableTo(Lock.class)
                || type.getPackageName().equals("java.util.concurrent.atomic");
    }

    /**
     * An API and the interface of its providers name each other's types, as {@code java.nio.channels} and its {@code spi}
     * do: the API calls the provider, and the provider takes and returns types of the API. Each such pair counts as one
     * package.
     */
    private static final Map<String, String> PROVIDER_PACKAGES =
            Map.of("io.rdma4j.verbs.spi", "io.rdma4j.verbs", "io.rdma4j.cm.spi", "io.rdma4j.cm");

    private static SliceAssignment packagesOf(String module) {
        return new SliceAssignment() {
            @Override
            public SliceIdentifier getIdentifierOf(JavaClass type) {
                String name = type.getPackageName();
                return resideInAPackage(packages(module)).test(type)
                        ? SliceIdentifier.of(PROVIDER_PACKAGES.getOrDefault(name, name))
                        : SliceIdentifier.ignore();
            }

            @Override
            public String getDescription() {
                return "packages of " + module;
            }
        };
    }

    @ParameterizedTest
    @MethodSource("modules")
    void packagesOfAModuleHaveNoCycles(String module) {
        slices().assignedFrom(packagesOf(module)).should().beFreeOfCycles().check(CLASSES);
    }

    private static final String MODULES_WITHOUT_API = "io\\.rdma4j\\.(wire|transport|link|sharing)";

    @ParameterizedTest
    @ValueSource(strings = {"wire", "transport", "link", "sharing"})
    void modulesWithoutAnApiAreExportedToOurOwnModulesOnly(String module) {
        assertThat(moduleInfo(module))
                .containsPattern("exports " + MODULES_WITHOUT_API)
                .doesNotContainPattern("exports (?!io\\.rdma4j\\.value;)[\\w.]+;");
    }

    @ParameterizedTest
    @ValueSource(strings = {"soft", "testkit"})
    void usersOfTheApiDoNotReadModulesWithoutOne(String module) {
        assertThat(moduleInfo(module))
                .containsPattern("requires " + MODULES_WITHOUT_API)
                .doesNotContainPattern("requires transitive " + MODULES_WITHOUT_API);
    }

    private static String moduleInfo(String module) {
        return Checkout.read(Checkout.module(module).resolve("src/main/java/module-info.java"));
    }

    /** The upper layer is what any program could write above the API of the lower one. */
    @Test
    void theUpperLayerUsesOnlyTheApi() {
        noClasses()
                .that()
                .resideInAPackage(packages("library"))
                .should()
                .dependOnClassesThat(resideInAPackage("io.rdma4j..")
                        .and(not(resideInAnyPackage(
                                "io.rdma4j",
                                "io.rdma4j.value",
                                "io.rdma4j.verbs",
                                "io.rdma4j.verbs.wait",
                                "io.rdma4j.cm"))))
                .check(CLASSES);
    }

    private static void noClockIn(String module) {
        noClasses()
                .that()
                .resideInAPackage(packages(module))
                .should()
                .callMethod(System.class, "nanoTime")
                .orShould()
                .callMethod(System.class, "currentTimeMillis")
                .check(CLASSES);
    }

    /** Programs use the test kit without JUnit, or with their own version of it. */
    @Test
    void theExtensionOfJUnitUsesItAlone() {
        noClasses()
                .that()
                .resideInAPackage("io.rdma4j.testkit.junit")
                .should()
                .dependOnClassesThat(not(resideInAnyPackage(
                        "io.rdma4j..",
                        "java..",
                        "org.jspecify..",
                        "org.junit.jupiter.api..",
                        "org.junit.platform.commons..")))
                .check(CLASSES);
    }

    @Test
    void libraryModulesHaveNoThirdPartyDependencies() {
        noClasses()
                .that(resideInAPackage("io.rdma4j..")
                        .and(not(
                                resideInAnyPackage(packages("tools"), packages("harness"), "io.rdma4j.testkit.junit"))))
                .should()
                .dependOnClassesThat(
                        not(resideInAnyPackage("io.rdma4j..", "java..", "jdk.jfr..", "jdk.net..", "org.jspecify..")))
                .check(CLASSES);
    }
}
