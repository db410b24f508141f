/**
 * The values that the protocol and the API have in common: opcodes, statuses, states, rights, addresses and reasons. Each has its
 * number in C or on the wire, and one look-up by that number.
 *
 * <p>They use no other class of the project. Values that only the API has are in its packages.
 */
package io.rdma4j.value;
