/** Shared parts of the command-line tools: the tool interface, option parsing, output as C prints it, and error reports. */
package io.rdma4j.tools.command;
