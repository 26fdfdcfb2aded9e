/** Runs in the ResourceManager: a lost node does not take its finished maps with it. */
package org.vas.shuffle.rm;
