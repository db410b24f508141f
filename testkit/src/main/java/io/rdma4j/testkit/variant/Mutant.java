package io.rdma4j.testkit.variant;

/**
 * A deliberate mistake in the protocol.
 *
 * @param name a few words joined by hyphens, unique
 * @param why what is wrong with it
 * @param withSmallNumbers whether it shows only in the build with small numbers
 * @param simulation the simulation that must find it, by the name of its class
 * @param substitution the mistake
 */
public record Mutant(String name, String why, boolean withSmallNumbers, String simulation, Substitution substitution) {}
