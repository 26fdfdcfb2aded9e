/**
 * Places map tasks: a processor in the ResourceManager's application master service that holds a
 * task for the VM that owns its split, for a bounded time, while the stock scheduler stays.
 *
 * <p>{@link org.vas.scheduler.PlacementProcessor} is the plug point; what it decides is in {@code
 * policy}. docs/placement.md describes the whole.
 */
package org.vas.scheduler;
