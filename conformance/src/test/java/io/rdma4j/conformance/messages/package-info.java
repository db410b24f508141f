/** Checks docs/errors.md against the messages in the sources. */
package io.rdma4j.conformance.messages;
