/** Verbs on hardware devices, through libibverbs. */
package io.rdma4j.hardware.device;
