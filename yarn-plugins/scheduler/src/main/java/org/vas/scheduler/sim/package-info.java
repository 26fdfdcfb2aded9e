/**
 * Simulates the placement of a large job in virtual time: the real policy, a model of YARN around
 * it.
 */
package org.vas.scheduler.sim;
