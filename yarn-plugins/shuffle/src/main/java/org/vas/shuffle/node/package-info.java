/** In the NodeManager: removes map output that an application master did not live to remove. */
package org.vas.shuffle.node;
