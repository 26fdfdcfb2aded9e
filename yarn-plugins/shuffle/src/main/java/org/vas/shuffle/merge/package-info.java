/** Sorted segments into one sorted stream of records: reading ahead, merging, handing over. */
package org.vas.shuffle.merge;
