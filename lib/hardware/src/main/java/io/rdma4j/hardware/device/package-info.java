/** The objects of verbs over libibverbs. */
package io.rdma4j.hardware.device;
