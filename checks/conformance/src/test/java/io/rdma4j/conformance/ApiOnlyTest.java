package io.rdma4j.conformance;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import org.junit.jupiter.api.Test;

/** The tests of semantics use what any program may use, so that they hold for each device. The programs of others may use more. */
class ApiOnlyTest {
    @Test
    void testsOfSemanticsUseOnlyTheApi() {
        noClasses()
                .that(not(resideInAnyPackage("io.rdma4j.conformance", "io.rdma4j.conformance.programs..")))
                .should()
                .dependOnClassesThat(resideInAPackage("io.rdma4j..")
                        .and(not(resideInAnyPackage(
                                "io.rdma4j",
                                "io.rdma4j.value",
                                "io.rdma4j.verbs",
                                "io.rdma4j.verbs.wait",
                                "io.rdma4j.cm",
                                "io.rdma4j.sockets",
                                "io.rdma4j.sockets.options",
                                "io.rdma4j.fixture",
                                "io.rdma4j.conformance.."))))
                .check(new ClassFileImporter().importPackages("io.rdma4j.conformance"));
    }
}
