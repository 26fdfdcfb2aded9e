/**
 * Runs in the NodeManager: removes map output that an application master did not live to remove,
 * and counts what reduce tasks read.
 */
package org.vas.shuffle.node;
