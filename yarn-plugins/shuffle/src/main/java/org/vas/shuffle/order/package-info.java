/** The order of serialised keys, which both sides of the shuffle sort and merge by. */
package org.vas.shuffle.order;
