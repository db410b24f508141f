/** {@code ibv_devices} and {@code ibv_devinfo}: which devices there are, and what they can do. */
package io.rdma4j.tools.devices;
