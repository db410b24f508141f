/**
 * The two processes of each program. They use the program's own API and the JDK, and nothing of this project.
 */
@org.jspecify.annotations.NullMarked
package io.rdma4j.programs.peer;
