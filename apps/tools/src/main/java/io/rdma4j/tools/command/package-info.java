/** Shared parts of the command-line tools: the tool interface, option parsing, C's output formats, error reports. */
package io.rdma4j.tools.command;
