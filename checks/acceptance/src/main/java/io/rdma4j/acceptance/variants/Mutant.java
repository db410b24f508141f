package io.rdma4j.acceptance.variants;

/**
 * A deliberate mistake in the protocol.
 *
 * @param name a few words joined by hyphens, unique
 * @param why the effect of the mistake
 * @param withSmallNumbers true if the mistake shows only in the build with small numbers
 * @param simulation class name of the simulation that must find it
 * @param substitution the change to the source
 */
public record Mutant(String name, String why, boolean withSmallNumbers, String simulation, Substitution substitution) {}
