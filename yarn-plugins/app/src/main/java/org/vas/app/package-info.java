/** An application master of MapReduce whose containers run one task after another. */
package org.vas.app;
