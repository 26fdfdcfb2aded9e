/** Stripe layouts of Lustre files: decoding them, requesting them, and the OST of each byte. */
package org.vas.layout;
