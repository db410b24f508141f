package io.rdma4j.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Reading the names of C header files. */
class CHeadersTest {
    private static final CHeaders HEADERS = CHeaders.of("""
            #ifndef A_H /* void in_comment(void); */
            #define A_H \\
                struct in_directive { int a; }
            #include <stdint.h>
            extern "C" {
            enum { FIRST_CONSTANT, SECOND_CONSTANT = 1 << 3 };
            enum kind { KIND_A = (1 << 2), /* KIND_X */ KIND_B = FUNCTION_LIKE(KIND_A, 7), KIND_C };
            struct later;
            struct outer {
                unsigned int    plain, second;
                char            text[64];
                __be64          bits : 3;
                enum kind       kind;
                union {
                    struct { int inside; };
                    uint32_t beside;
                };
                struct { int hidden; } named;
                int (*call)(struct outer *outer, void *argument);
                struct inner { int deep; } inner;
            };
            struct _internal { int a; };
            typedef int (*callback)(void *argument);
            const char *declared(struct later *later) __attribute__((nonnull(1)));
            static inline int defined(int a)
            {
                if (call(a)) { return other(a); }
                return 0;
            }
            struct later *last(void);
            }
            #endif
            """);

    @Test
    void functionsAreDeclarationsAndDefinitionsOutsideOfBlocks() {
        assertThat(HEADERS.functions()).containsExactlyInAnyOrder("declared", "defined", "last");
    }

    @Test
    void structuresHaveTheFieldsOfTheirBlocksWithoutName() {
        assertThat(HEADERS.structures()).containsOnlyKeys("struct outer", "struct inner");
        assertThat(HEADERS.structures().get("struct outer"))
                .containsExactly(
                        "plain", "second", "text", "bits", "kind", "inside", "beside", "named", "call", "inner");
    }

    @Test
    void enumerationsHaveTheirConstants() {
        assertThat(HEADERS.enumerations()).containsOnlyKeys("enum kind");
        assertThat(HEADERS.enumerations()).containsEntry("enum kind", List.of("KIND_A", "KIND_B", "KIND_C"));
        assertThat(HEADERS.constants()).containsExactly("FIRST_CONSTANT", "SECOND_CONSTANT");
    }
}
