/**
 * The reduce side's plugin: which map outputs there are, whether they are intact, and the merge.
 * {@code LostReports} tells the application master which outputs are lost: Hadoop runs those maps
 * again.
 */
package org.vas.shuffle.reduce;
