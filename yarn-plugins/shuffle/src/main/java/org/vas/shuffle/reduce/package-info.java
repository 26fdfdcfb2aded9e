/**
 * The reduce side: finds which map outputs there are, checks whether they are intact, and merges
 * them. {@code LostReports} tells the application master which outputs are lost: Hadoop runs those
 * maps again.
 */
package org.vas.shuffle.reduce;
