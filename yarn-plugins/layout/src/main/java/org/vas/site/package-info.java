/** The map of the site, {@code cluster.yaml}, and which host serves an OST now. */
package org.vas.site;
