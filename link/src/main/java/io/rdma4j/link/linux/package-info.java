/**
 * The link set on Linux' own system calls by the foreign-function API; not exported, and loaded only where native access is
 * enabled for this module.
 */
package io.rdma4j.link.linux;
