/** A task's side of {@code vas-shuffled}: requests to the daemon of its node. */
package org.vas.shuffle.daemon;
