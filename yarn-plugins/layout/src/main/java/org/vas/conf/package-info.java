/** Configuration keys: name, default, bounds, meaning and getter of each in one place. */
package org.vas.conf;
