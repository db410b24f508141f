/** The engines: locks, duty cycles, ports, timers, and the threads that drive them. Not exported. */
package io.rdma4j.soft.engine;
