/** The map side: records sorted in bounded memory, written as runs of segments, and published. */
package org.vas.shuffle.map;
