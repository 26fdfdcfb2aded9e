/** Classes that only pretend to be Hadoop's. */
package org.apache.hadoop.forged;
