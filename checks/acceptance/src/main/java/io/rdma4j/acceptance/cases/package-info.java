/** The acceptance tests, one class each; {@code docs/acceptance-tests.md} describes what each shows. */
@NullMarked
package io.rdma4j.acceptance.cases;

import org.jspecify.annotations.NullMarked;
