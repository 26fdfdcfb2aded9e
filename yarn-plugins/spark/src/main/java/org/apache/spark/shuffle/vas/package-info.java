/** Spark's map output on Lustre: written once, published as a whole, verified when it is read. */
package org.apache.spark.shuffle.vas;
