/** The acceptance tests, one class each; {@code docs/acceptance-tests.md} describes what each shows. */
@NullMarked
package io.rdma4j.faults.cases;

import org.jspecify.annotations.NullMarked;
