/**
 * The policy of placement: where a map task may run, and for how long it may wait.
 *
 * <p>Plain data in, plain data out: no YARN type and no clock, so that the ResourceManager's
 * processor, the simulator and the property tests run the very same code.
 */
package org.vas.scheduler.policy;
