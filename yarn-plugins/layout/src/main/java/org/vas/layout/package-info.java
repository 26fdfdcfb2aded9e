/** Which host of the site owns which byte of a Lustre file: the cluster map and stripe layouts. */
package org.vas.layout;
