/** The acceptance tests, one class each, and nothing else; {@code docs/acceptance-tests.md} says what each shows. */
@NullMarked
package io.rdma4j.faults.cases;

import org.jspecify.annotations.NullMarked;
