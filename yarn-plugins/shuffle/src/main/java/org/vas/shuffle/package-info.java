/** Map output written once to Lustre, and merged from there into reduce(): docs/shuffle.md. */
package org.vas.shuffle;
